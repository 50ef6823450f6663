package example;

import java.util.HashSet;
import java.util.Set;
import org.apache.avro.generic.GenericRecord;

/** Who follows whom, kept up to date from FollowChanged. An event may come again: it changes nothing then. */
public final class Follows {
  /** One person follows another. */
  public record Edge(String follower, String followee) {}

  private final Set<Edge> edges = new HashSet<>();

  /** Takes one event, of whatever version. */
  public void take(GenericRecord event) {
    Edge edge = new Edge(text(event, "follower_id"), text(event, "followee_id"));
    if ((Boolean) event.get("following")) {
      edges.add(edge);
    } else {
      edges.remove(edge);
    }
  }

  /** Returns the edges as they are now. */
  public Set<Edge> edges() {
    return Set.copyOf(edges);
  }

  private static String text(GenericRecord event, String field) {
    return event.get(field).toString(); // Avro has its own strings
  }
}

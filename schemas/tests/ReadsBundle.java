import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map.Entry;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.DecoderFactory;

/** Reads every schema and every example's JSON of a bundle that is unpacked, and says what Java's Avro does not take. */
public class ReadsBundle {
  public static void main(String[] arguments) throws Exception {
    Path bundle = Path.of(arguments[0]);
    for (Entry<String, JsonNode> topic : new ObjectMapper().readTree(bundle.resolve("manifest.json").toFile()).get("topics").properties()) {
      for (JsonNode version : topic.getValue().get("versions")) {
        String path = version.get("schema").asText();
        try {
          Schema schema = new Schema.Parser().parse(Files.readString(bundle.resolve(path)));
          for (JsonNode example : version.get("examples")) {
            path = example.get("json").asText();
            new GenericDatumReader<>(schema).read(null, DecoderFactory.get().jsonDecoder(schema, Files.readString(bundle.resolve(path))));
            System.out.println("read " + path);
          }
        } catch (Exception error) {
          System.out.println("refused " + path + ": " + error);
        }
      }
    }
  }
}

import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** DynamoDB Local, but for this machine alone: by itself it listens on every interface and has no option against it. */
public final class OnLoopback {
  public static void main(String[] arguments) throws Exception {
    DynamoDBProxyServer dynamodb = ServerRunner.createServerFromCommandLineArgs(arguments);
    Field jetty = DynamoDBProxyServer.class.getDeclaredField("server");
    jetty.setAccessible(true);
    for (Connector connector : ((Server) jetty.get(dynamodb)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    dynamodb.start();
    dynamodb.join();
  }
}

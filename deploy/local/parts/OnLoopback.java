package murmuration;

import com.almworks.sqlite4java.SQLiteConnection;
import com.almworks.sqlite4java.SQLiteJob;
import com.almworks.sqlite4java.SQLiteQueue;
import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.AbstractLocalDynamoDBServerHandler;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.shared.access.AmazonDynamoDBLocal;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * DynamoDB Local, but for this machine alone, and with one index more.
 *
 * <p>By itself it listens on every interface and has no option against it. And with each call it looks for the first
 * record of the table's stream, through the records of all streams until there is one. A transaction with a table in
 * which nothing happened yet took 15 ms after 75,000 changes of others; with the index it takes 2.
 */
public final class OnLoopback {
  private static final String INDEX = "CREATE INDEX IF NOT EXISTS us_by_stream ON us (StreamID, SequenceNumber)";

  public static void main(String[] arguments) throws Exception {
    serve(ServerRunner.createServerFromCommandLineArgs(arguments));
  }

  public static void serve(DynamoDBProxyServer dynamodb) throws Exception {
    Server jetty = (Server) field(DynamoDBProxyServer.class, "server", dynamodb);
    for (Connector connector : jetty.getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    Object server = field(DynamoDBProxyServer.class, "serverHandler", dynamodb);
    Object requests = field(AbstractLocalDynamoDBServerHandler.class, "primaryHandler", server);
    Method store = LocalDynamoDBRequestHandler.class.getDeclaredMethod("getHandler", String.class);
    store.setAccessible(true);
    Object client = ((AmazonDynamoDBLocal) store.invoke(requests, "whoever asks")).amazonDynamoDB();
    Object tables = field(client.getClass(), "dbAccess", client);
    SQLiteQueue queue = (SQLiteQueue) field(tables.getClass(), "queue", tables);
    queue.execute(
            new SQLiteJob<Object>() {
              @Override
              protected Object job(SQLiteConnection sqlite) throws Throwable {
                return sqlite.exec(INDEX);
              }
            })
        .get();
    dynamodb.start();
    dynamodb.join();
  }

  private static Object field(Class<?> of, String name, Object owner) throws ReflectiveOperationException {
    Field field = of.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }
}

package com.amazonaws.services.dynamodbv2.local.server;

import murmuration.OnLoopback;

/**
 * DynamoDB Local with its own test control switched on, which no option does: a PutItem into "[TEST_CONTROL]" closes
 * every open shard or moves the streams' time on. In its package, because the constructor that takes the switch is.
 */
public final class UnderControl {
  /** Arguments: the port, and the directory for the data; without one, all is in memory. */
  public static void main(String[] arguments) throws Exception {
    boolean inMemory = arguments.length == 1;
    DynamoDBRequestHandler handler =
        new LocalDynamoDBRequestHandler(0, inMemory, inMemory ? null : arguments[1], true, false, true);
    OnLoopback.serve(
        new DynamoDBProxyServer(Integer.parseInt(arguments[0]), new LocalDynamoDBServerHandler(handler, "*")));
  }
}

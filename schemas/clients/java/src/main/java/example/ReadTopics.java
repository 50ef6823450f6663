package example;

import io.apicurio.registry.serde.avro.AvroKafkaDeserializer;
import io.apicurio.registry.serde.avro.AvroSerdeConfig;
import io.apicurio.registry.serde.avro.DefaultAvroDatumProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DatumReader;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Reads topics with Kafka's client and Apicurio's deserializer, from the oldest event to the newest; a line of JSON each.
 *
 * <p>Arguments: TOPIC[=READER.avsc] … The reader's schema may be any version of the topic; without one each event comes as
 * it was written.
 */
public final class ReadTopics {
  private static final String READER = "example.reader";

  public static void main(String[] arguments) throws IOException {
    for (String argument : arguments) {
      String[] parts = argument.split("=", 2);
      String reader = parts.length > 1 ? Files.readString(Path.of(parts[1])) : "";
      Map<String, Object> settings = Map.of(
          "bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS"),
          "key.deserializer", StringDeserializer.class,
          "value.deserializer", AvroKafkaDeserializer.class,
          "apicurio.registry.url", System.getenv("APICURIO_REGISTRY_URL"),
          "apicurio.registry.avro-datum-provider", WithReader.class.getName(),
          READER, reader);
      try (KafkaConsumer<String, GenericRecord> consumer = new KafkaConsumer<>(settings)) {
        read(consumer, parts[0], argument);
      }
    }
  }

  private static void read(KafkaConsumer<String, GenericRecord> consumer, String topic, String argument) {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream().map(each -> new TopicPartition(topic, each.partition())).toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
      for (ConsumerRecord<String, GenericRecord> each : consumer.poll(Duration.ofSeconds(1))) {
        System.out.printf("{\"read\": \"%s\", \"partition\": %d, \"offset\": %d, \"record\": %s}%n",
            argument, each.partition(), each.offset(), each.value());
      }
    }
  }

  /** Reads with the schema of the settings, or as it was written. */
  public static final class WithReader extends DefaultAvroDatumProvider<GenericRecord> {
    private Schema reader;

    @Override
    public void configure(AvroSerdeConfig config) {
      super.configure(config);
      String text = (String) config.originals().get(READER);
      reader = text.isEmpty() ? null : new Schema.Parser().parse(text);
    }

    @Override
    public DatumReader<GenericRecord> createDatumReader(Schema written) {
      return new GenericDatumReader<>(written, reader == null ? written : reader);
    }
  }

  private ReadTopics() {}
}

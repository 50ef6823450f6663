package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** What this team relies on, tested against the bundle of the contracts. Nothing else of their repository is here. */
class ContractTest {
  private static final Bundle BUNDLE = open();

  @Test
  void theBundleIsTheOneThatWePinned() {
    String pinned = System.getProperty("contracts.sha256", "");
    assertEquals(pinned.isEmpty() ? BUNDLE.sha256 : pinned, BUNDLE.sha256);
  }

  @Test
  void everyFileIsAsTheManifestSays() {
    BUNDLE.manifest.get("files").properties().forEach(
        file -> assertEquals(file.getValue().asText(), Bundle.sha256(BUNDLE.file(file.getKey())), file.getKey()));
  }

  /** Whoever is deployed first or last: each version reads each other. */
  @TestFactory
  Stream<DynamicTest> versionsReadEachOther() {
    return topics().flatMap(topic -> {
      List<Bundle.Version> versions = BUNDLE.versions(topic);
      return versions.stream().flatMap(reader -> versions.stream().map(writer ->
          dynamicTest(topic + ": " + reader.number() + " reads " + writer.number(), () -> {
            var found = SchemaCompatibility.checkReaderWriterCompatibility(reader.schema(), writer.schema());
            assertEquals(SchemaCompatibility.SchemaCompatibilityType.COMPATIBLE, found.getType(), found.getDescription());
          })));
    });
  }

  /** JSON, bare Avro and Kafka's bytes are one record, and its key lies where Kafka's own partitioner puts it. */
  @TestFactory
  Stream<DynamicTest> everyFormOfAnExampleIsTheSame() {
    return topics().flatMap(topic -> BUNDLE.versions(topic).stream().flatMap(version ->
        version.examples().stream().map(example -> dynamicTest(example.label(), () -> {
          Decoder json = DecoderFactory.get().jsonDecoder(version.schema(), BUNDLE.text(example.name("json")));
          GenericRecord expected = read(version.schema(), version.schema(), json);
          byte[] bare = BUNDLE.file(example.name("bare"));
          assertEquals(expected, read(version.schema(), version.schema(), binary(bare)));
          ByteBuffer value = ByteBuffer.wrap(BUNDLE.file(example.name("confluent")));
          assertEquals(0, value.get());
          assertEquals(version.number(), value.getInt());
          assertEquals(ByteBuffer.wrap(bare), value);
          JsonNode described = BUNDLE.manifest.get("topics").get(topic);
          assertEquals(expected.get(described.get("key").asText()).toString(), example.name("key"));
          int hash = Utils.toPositive(Utils.murmur2(example.name("key").getBytes(StandardCharsets.UTF_8)));
          assertEquals(hash % described.get("partitions").asInt(), example.said().get("partition").asInt());
        }))));
  }

  /** Our own handler takes every example of every version, read with the oldest schema and with the latest. */
  @TestFactory
  Stream<DynamicTest> weTakeEveryFollowChanged() {
    List<Bundle.Version> versions = BUNDLE.versions("FollowChanged");
    return Stream.of(versions.get(0), versions.get(versions.size() - 1)).distinct().flatMap(reader ->
        versions.stream().flatMap(written -> written.examples().stream().map(example ->
            dynamicTest(example.label() + ", read with version " + reader.number(), () -> {
              byte[] bytes = BUNDLE.file(example.name("bare"));
              GenericRecord event = read(written.schema(), reader.schema(), binary(bytes));
              Follows follows = new Follows();
              follows.take(event);
              assertEquals((Boolean) event.get("following") ? 1 : 0, follows.edges().size());
              follows.take(event);
              assertEquals((Boolean) event.get("following") ? 1 : 0, follows.edges().size());
            }))));
  }

  private static Stream<String> topics() {
    return BUNDLE.manifest.get("topics").properties().stream().map(Map.Entry::getKey);
  }

  private static GenericRecord read(Schema written, Schema reader, Decoder from) throws IOException {
    return new GenericDatumReader<GenericRecord>(written, reader).read(null, from);
  }

  private static Decoder binary(byte[] bytes) {
    return DecoderFactory.get().binaryDecoder(bytes, null);
  }

  private static Bundle open() {
    try {
      return new Bundle(Path.of(System.getProperty("contracts.bundle")));
    } catch (IOException error) {
      throw new IllegalStateException("the bundle of the contracts cannot be read", error);
    }
  }
}

package example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipFile;
import org.apache.avro.Schema;

/** The bundle of the contracts, read by its manifest. */
final class Bundle {
  /** One version of a topic's schema, with its examples. */
  record Version(String topic, int number, Schema schema, List<Example> examples) {}

  /** One example: the JSON that describes it, and the version that it is of. */
  record Example(JsonNode said, String label) {
    String name(String field) {
      return said.get(field).asText();
    }
  }

  final JsonNode manifest;
  final String sha256;
  private final Map<String, byte[]> files = new TreeMap<>();

  Bundle(Path path) throws IOException {
    sha256 = sha256(Files.readAllBytes(path));
    try (ZipFile zip = new ZipFile(path.toFile())) {
      for (var entry : zip.stream().toList()) {
        files.put(entry.getName(), zip.getInputStream(entry).readAllBytes());
      }
    }
    manifest = new ObjectMapper().readTree(files.get("manifest.json"));
  }

  byte[] file(String path) {
    return files.get(path);
  }

  String text(String path) {
    return new String(file(path), StandardCharsets.UTF_8);
  }

  List<Version> versions(String topic) {
    List<Version> found = new ArrayList<>();
    for (JsonNode version : manifest.get("topics").get(topic).get("versions")) {
      int number = version.get("version").asInt();
      Schema schema = new Schema.Parser().parse(text(version.get("schema").asText()));
      List<Example> examples = new ArrayList<>();
      for (JsonNode example : version.get("examples")) {
        examples.add(new Example(example, topic + " " + number + ": " + example.get("name").asText()));
      }
      found.add(new Version(topic, number, schema, examples));
    }
    return found;
  }

  static String sha256(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}

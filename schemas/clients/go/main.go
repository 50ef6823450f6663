// Reads topics with hamba/avro and franz-go, from the oldest event to the newest; a line of JSON for each event.
//
//	go run . TOPIC[=READER.avsc] …
//
// The reader's schema may be any version of the topic; without one each event comes as it was written.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/registry"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Decoder turns values in Confluent's wire format into records.
type Decoder struct {
	registry *registry.Client
	api      avro.API    // of its own: it caches by schema, and takes a field that is skipped for one that is read
	reader   avro.Schema // nil: as it was written
	known    map[uint32]avro.Schema
}

// Decode reads one value; a tombstone is no record.
func (d *Decoder) Decode(ctx context.Context, value []byte) (map[string]any, error) {
	if value == nil {
		return nil, nil
	}
	id := binary.BigEndian.Uint32(value[1:5])
	schema, ok := d.known[id]
	if !ok {
		written, err := d.registry.GetSchema(ctx, int(id))
		if err != nil {
			return nil, err
		}
		schema = written
		if d.reader != nil {
			if schema, err = avro.NewSchemaCompatibility().Resolve(d.reader, written); err != nil {
				return nil, err
			}
		}
		d.known[id] = schema
	}
	record := map[string]any{}
	return record, d.api.Unmarshal(schema, value[5:], &record)
}

func main() {
	ctx := context.Background()
	client, err := registry.NewClient(os.Getenv("SCHEMA_REGISTRY_URL") + "/")
	must(err)
	out := json.NewEncoder(os.Stdout)
	for _, argument := range os.Args[1:] {
		topic, file, _ := strings.Cut(argument, "=")
		decoder := &Decoder{registry: client, api: avro.Config{}.Freeze(), known: map[uint32]avro.Schema{}}
		if file != "" {
			text, err := os.ReadFile(file)
			must(err)
			// Each in a cache of its own: all versions of a topic have one name.
			decoder.reader, err = avro.ParseBytesWithCache(text, "", &avro.SchemaCache{})
			must(err)
		}
		read(ctx, topic, func(each *kgo.Record) {
			record, err := decoder.Decode(ctx, each.Value)
			must(err)
			must(out.Encode(map[string]any{
				"read": argument, "partition": each.Partition, "offset": each.Offset, "record": record,
			}))
		})
	}
}

// read gives each message that a topic has now.
func read(ctx context.Context, topic string, give func(*kgo.Record)) {
	kafka, err := kgo.NewClient(
		kgo.SeedBrokers(os.Getenv("KAFKA_BOOTSTRAP_SERVERS")),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	must(err)
	defer kafka.Close()
	admin := kadm.NewClient(kafka)
	starts, err := admin.ListStartOffsets(ctx, topic)
	must(err)
	ends, err := admin.ListEndOffsets(ctx, topic)
	must(err)
	unread := map[int32]int64{} // by partition: the last offset
	ends.Each(func(end kadm.ListedOffset) {
		if start, _ := starts.Lookup(topic, end.Partition); start.Offset < end.Offset {
			unread[end.Partition] = end.Offset - 1
		}
	})
	for len(unread) > 0 {
		fetches := kafka.PollFetches(ctx)
		must(fetches.Err())
		fetches.EachRecord(func(each *kgo.Record) {
			give(each)
			if last, ok := unread[each.Partition]; ok && each.Offset >= last {
				delete(unread, each.Partition)
			}
		})
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

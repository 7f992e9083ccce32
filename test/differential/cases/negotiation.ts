import { type Step, type Topic, topic } from "../step.ts";
import { card, machine, plain } from "./kinds.ts";

const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const made = card.make(
  "a",
  {
    metadata: { labels: { x: "y" } },
    spec: { text: "one", color: "red", size: 1, due: "2020-01-01T00:00:00Z", price: 1.5, tags: ["p", "q"] },
  },
  { as: "made" },
);
const other = card.make("b", { spec: { text: "two" } });
const accepts = (step: (accept: string) => Step, ...types: string[]) => types.map((type) => step(type));
const get = (accept: string) => card.get("a", { headers: { accept } });
const list = (accept: string, query?: string) => card.list(query, { headers: { accept } });

export const NEGOTIATION: Topic = topic("negotiation", {
  "of an object": [
    made,
    ...accepts(
      get,
      "application/json",
      "application/yaml",
      "*/*",
      "application/*",
      "text/*",
      "text/html",
      "text/plain",
      "",
      "application/xml",
      "application/xml, application/json",
      "application/json;q=0.1, application/yaml",
      "application/vnd.kubernetes.protobuf",
      "application/vnd.kubernetes.protobuf, application/json",
      "application/cbor",
      "application/cbor, application/json",
      "nonsense",
      "application/json;pretty=1",
      "application/json;charset=utf-8",
      "application/json;nothing=1",
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    ),
  ],
  "of an object in another form": [
    made,
    ...accepts(
      get,
      TABLE,
      PARTIAL,
      PARTIAL_LIST,
      "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
      "application/json;as=Table;g=meta.k8s.io;v=v2",
      "application/json;as=Nothing;g=meta.k8s.io;v=v1",
      "application/json;as=Table",
      "application/json;g=meta.k8s.io;v=v1",
      "application/json;as=Table;g=other;v=v1",
      `${TABLE}, application/json`,
      `application/json;as=Nothing;g=meta.k8s.io;v=v1, application/json`,
      "application/yaml;as=Table;g=meta.k8s.io;v=v1",
      "application/yaml;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1",
      "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1, application/json",
    ),
  ],
  "of a list": [
    made,
    other,
    ...accepts(
      list,
      "application/yaml",
      TABLE,
      PARTIAL,
      PARTIAL_LIST,
      "*/*",
      "text/plain",
      "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
      "application/yaml;as=Table;g=meta.k8s.io;v=v1",
    ),
  ],
  "of tables": [
    made,
    other,
    list(TABLE, "includeObject=Object"),
    list(TABLE, "includeObject=None"),
    list(TABLE, "includeObject=Metadata"),
    list(TABLE, "includeObject=Nonsense"),
    list(TABLE, "limit=1"),
    list(TABLE, "fieldSelector=metadata.name%3Db"),
    list(TABLE, "labelSelector=none"),
    card.get("a", { query: "includeObject=Object", headers: { accept: TABLE } }),
  ],
  "of tables of nothing": [list(TABLE), list(PARTIAL_LIST)],
  "of tables with odd values": [
    plain.make("p"),
    plain.list(undefined, { headers: { accept: TABLE } }),
    machine.make("m", { spec: {} }),
    machine.list(undefined, { headers: { accept: TABLE } }),
    card.make("c", {
      spec: { text: "line\nbreak", due: "2999-01-01T00:00:00Z", price: 100, size: 0, bold: false, tags: [] },
    }),
    list(TABLE),
  ],
  "of errors": [
    ...accepts(
      get,
      "application/yaml",
      TABLE,
      PARTIAL,
      "text/plain",
      "application/json;q=0.1, application/yaml",
      "text/html",
    ),
    card.make("B_ad", { spec: {} }, { headers: { accept: "application/yaml" } }),
    card.list("labelSelector=!!", { headers: { accept: "application/yaml" } }),
  ],
  "of what is created": [
    card.make("t", { spec: { text: "x" } }, { headers: { accept: TABLE } }),
    card.make("p", { spec: { text: "x" } }, { headers: { accept: PARTIAL } }),
    card.make("y", { spec: { text: "x" } }, { headers: { accept: "application/yaml" } }),
    card.make("n", { spec: { text: "x" } }, { headers: { accept: "text/plain" } }),
    card.list(),
  ],
  "of what is updated": [
    made,
    card.change("made", { spec: { text: "two" } }, { headers: { accept: TABLE } }),
    card.merge("a", { spec: { text: "three" } }, { headers: { accept: PARTIAL } }),
    card.merge("a", { spec: { text: "four" } }, { headers: { accept: "application/yaml" } }),
    card.apply("a", { spec: { text: "five" } }, { query: "force=true", headers: { accept: TABLE } }),
    card.apply("q", { spec: { text: "five" } }, { headers: { accept: PARTIAL } }),
    card.merge("a", { spec: { text: "six" } }, { headers: { accept: "text/plain" } }),
    card.get("a"),
  ],
  "of what is deleted": [
    made,
    card.delete("a", undefined, { headers: { accept: TABLE } }),
    made,
    card.delete("a", undefined, { headers: { accept: "application/yaml" } }),
    made,
    card.delete("a", undefined, { headers: { accept: PARTIAL } }),
    made,
    card.delete("a", undefined, { headers: { accept: "text/plain" } }),
    card.get("a"),
    card.delete("", undefined, { headers: { accept: TABLE } }),
    card.merge("x", {}, { headers: { accept: TABLE } }),
  ],
  "of what is kept by finalizers": [
    plain.make("a", { metadata: { finalizers: ["example.dev/x"] } }),
    plain.delete("a", undefined, { headers: { accept: PARTIAL } }),
    plain.delete("a", undefined, { headers: { accept: TABLE } }),
  ],
});

export const VERBS: Topic = topic("verbs", {
  "that are not there": [
    made,
    ...["POST", "CONNECT", "PATCH", "PUT", "OPTIONS", "TRACE", "NONSENSE", "PROPFIND"]
      .filter((method) => method !== "CONNECT")
      .flatMap((method) => [{ send: `${method} ${card.path("a")}` }, { send: `${method} ${card.path("")}` }]),
  ],
  head: [
    made,
    { send: `HEAD ${card.path("a")}` },
    { send: `HEAD ${card.path("")}` },
    { send: `HEAD ${card.path("none")}` },
  ],
  "at paths that are not there": [
    ...[
      "/apis/oracle.dev/v1/nothings",
      "/apis/oracle.dev/v1/nothings/a",
      "/apis/oracle.dev/v9/cards",
      "/apis/other.dev/v1/cards",
      "/apis/oracle.dev/v1/cards/a/b/c",
      "/apis/oracle.dev/v1/namespaces/ns",
      "/apis/oracle.dev/v1/namespaces/ns/cards",
      "/apis/oracle.dev/v1/namespaces/ns/cards/a",
      "/apis/oracle.dev/v1/plains/a",
      "/nothing",
      "/apis/oracle.dev/v1/Cards",
      "/apis/oracle.dev/v1/cards/",
    ].map((path) => ({ send: `GET ${path}` })),
  ],
  "at paths that are not there, written": [
    ...["POST", "PUT", "PATCH", "DELETE"].map((method) => ({
      send: `${method} /apis/oracle.dev/v1/nothings/a`,
      body: {},
    })),
    ...["POST", "PUT", "PATCH", "DELETE"].map((method) => ({
      send: `${method} /apis/oracle.dev/v1/plains/a`,
      body: {},
    })),
    ...["POST", "DELETE"].map((method) => ({
      send: `${method} /apis/oracle.dev/v1/namespaces/ns/cards`,
      body: card.of("a"),
    })),
  ],
});

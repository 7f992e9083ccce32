import {
  type Ask,
  type Breakage,
  forget,
  isInitialEnd,
  isList,
  isObject,
  type JsonObject,
  plainText,
  type Reply,
  refusal,
  rewritten,
} from "./breakage.ts";

const JSON_TYPE = "application/json";
const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** Faults of content negotiation. */
export const representationBreakages: readonly Breakage[] = [
  {
    name: "sends YAML to clients that accept anything",
    fails: ["T6.1"],
    ask: (ask) => accepting(ask, (accept) => (accept === "*/*" && !ask.isWatch ? "application/yaml" : accept)),
  },
  {
    name: "sends different content in YAML",
    fails: ["T6.2"],
    reply: (reply, ask) =>
      ask.headers.accept === "application/yaml" && (isList(ask) || isObject(ask)) && reply.status === 200
        ? { ...reply, body: Buffer.from(reply.body.toString("utf8").replace(/text: .*/, "text: another")) }
        : reply,
  },
  {
    name: "omits columnDefinitions from Tables",
    fails: ["T6.3", "T6.5", "T6.6"],
    reply: (reply) => rewritten(reply, withoutColumns),
    events: () => (event) => [{ ...event, object: withoutColumns(event.object) }],
  },
  {
    name: "omits the last cell of each row",
    fails: ["T6.3"],
    reply: (reply, ask) =>
      isList(ask)
        ? rewritten(reply, (table) =>
            withRows(table, (row) => ({ ...row, cells: (row["cells"] as unknown[]).slice(1) })),
          )
        : reply,
  },
  {
    name: "ignores includeObject",
    fails: ["T6.4"],
    ask: (ask) => (ask.query.get("includeObject") === "Most" || ask.isWatch ? undefined : forget(ask, "includeObject")),
  },
  {
    name: "sends one object unchanged instead of a Table",
    fails: ["T6.5"],
    ask: (ask) =>
      isObject(ask) ? accepting(ask, (accept) => (accept.includes("as=Table") ? JSON_TYPE : accept)) : undefined,
  },
  {
    name: "sends bookmarks of Tables as plain objects",
    fails: ["T6.6"],
    events: () => (event) =>
      isInitialEnd(event) && event.object["kind"] === "Table"
        ? [{ ...event, object: rowObject(event.object) }]
        : [event],
  },
  {
    name: "keeps the spec in PartialObjectMetadataList",
    fails: ["T6.7"],
    reply: (reply) =>
      rewritten(reply, (list) =>
        list["kind"] === "PartialObjectMetadataList"
          ? { ...list, items: (list["items"] as JsonObject[]).map((item) => ({ ...item, spec: {} })) }
          : list,
      ),
  },
  {
    name: "sends the whole object instead of its metadata",
    fails: ["T6.8"],
    ask: (ask) =>
      isObject(ask)
        ? accepting(ask, (accept) => (accept.includes("as=PartialObjectMetadata;") ? JSON_TYPE : accept))
        : undefined,
  },
  {
    name: "sends whole objects in a watch of metadata",
    fails: ["T6.9"],
    ask: (ask) =>
      ask.isWatch
        ? accepting(ask, (accept) => (accept.includes("as=PartialObjectMetadata;") ? JSON_TYPE : accept))
        : undefined,
  },
  {
    name: "answers 406 to clients that prefer protobuf",
    fails: ["T6.10"],
    ask: ({ headers: { accept = "" } }) => (accept.startsWith(PROTOBUF) ? refusal(406, "NotAcceptable") : undefined),
  },
  {
    name: "answers 415 to clients that require protobuf",
    fails: ["T6.11"],
    ask: ({ headers: { accept } }) => (accept === PROTOBUF ? refusal(415, "UnsupportedMediaType") : undefined),
  },
  {
    name: "sends JSON to clients that require CBOR",
    fails: ["T6.11"],
    ask: (ask) => accepting(ask, (accept) => (accept === "application/cbor" ? JSON_TYPE : accept)),
  },
  {
    name: "sends JSON to clients that require an unknown type",
    fails: ["T6.12"],
    ask: (ask) => accepting(ask, (accept) => (accept === "application/x-nobody-knows" ? JSON_TYPE : accept)),
  },
  {
    name: "ignores q-values",
    fails: ["T6.13"],
    ask: (ask) => accepting(ask, (accept) => accept.replaceAll(/;q=[\d.]+/g, "")),
  },
  {
    name: "ignores an unknown transformation",
    fails: ["T6.14"],
    ask: (ask) => accepting(ask, (accept) => (accept.endsWith("v=v99") ? JSON_TYPE : accept)),
  },
  {
    name: "sends a v1 Table instead of v1beta1",
    fails: ["T6.14"],
    ask: (ask) => accepting(ask, (accept) => accept.replace("v=v1beta1", "v=v1")),
  },
  {
    name: "streams JSON instead of YAML",
    fails: ["T6.15"],
    ask: (ask) =>
      ask.isWatch ? accepting(ask, (accept) => (accept === "application/yaml" ? JSON_TYPE : accept)) : undefined,
  },
  {
    name: "answers 406 in plain text",
    fails: ["T6.11", "T6.14", "T6.15", "E5"],
    reply: (reply: Reply) => (reply.status === 406 ? plainText(406) : reply),
  },
];

function accepting({ headers }: Ask, change: (accept: string) => string): undefined {
  headers.accept = change(headers.accept ?? "");
}

function withoutColumns(document: JsonObject): JsonObject {
  if (document["kind"] !== "Table") return document;
  const { columnDefinitions: _, ...rest } = document;
  return rest;
}

function withRows(document: JsonObject, change: (row: JsonObject) => JsonObject): JsonObject {
  return document["kind"] === "Table"
    ? { ...document, rows: (document["rows"] as JsonObject[]).map(change) }
    : document;
}

function rowObject(table: JsonObject): JsonObject {
  return (table["rows"] as { readonly object: JsonObject }[])[0]?.object ?? table;
}

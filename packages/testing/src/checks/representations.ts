import { expectOk, expectSame, fail } from "../assertions/expect.ts";
import { at, isObject, type JsonObject, listAt, show, textAt } from "../assertions/json.ts";
import { endsInitialEvents, eventObject, keyOf, plainKeyOf, versionOf } from "../assertions/objects.ts";
import type { RequestLine } from "../http/answer.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

/** Values of `Accept` that clients send. */
export const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
export const PROTOBUF = "application/vnd.kubernetes.protobuf";
export const CBOR = "application/cbor";
/** Type of watches that were requested as CBOR. */
export const CBOR_SEQ = "application/cbor-seq";
const META = "g=meta.k8s.io;v=v1";
/** kubectl get. */
export const TABLE: string = `application/json;as=Table;${META}`;
/** Metadata of one object, also in watches. */
export const PARTIAL: string = `application/json;as=PartialObjectMetadata;${META}`;
export const PARTIAL_LIST: string = `application/json;as=PartialObjectMetadataList;${META}`;
/** Sent by Go's metadata clients, which prefer protobuf. */
export const METADATA_CLIENT: string = `${PROTOBUF};as=PartialObjectMetadata;${META},${PARTIAL},${JSON_TYPE}`;
export const METADATA_CLIENT_LIST: string = `${PROTOBUF};as=PartialObjectMetadataList;${META},${PARTIAL_LIST},${JSON_TYPE}`;

const scope = "resource";
const META_VERSION = "meta.k8s.io/v1";

/** T6, continued: Table and PartialObjectMetadata. */
export const representationChecks: readonly ResourceCheck[] = [
  {
    id: "T6.3",
    title: "a list as Table has columns, and for each object a row with that many cells",
    protects: "kubectl get shows only names, or <unknown>",
    scope,
    verbs: ["list"],
    run: tableOfList,
  },
  {
    id: "T6.4",
    title: "includeObject decides what rows contain: nothing, metadata or the object",
    protects: "kubectl get -n, --sort-by and --show-labels have no data",
    scope,
    verbs: ["list"],
    run: includeObject,
  },
  {
    id: "T6.5",
    title: "one object as Table is a Table of one row",
    protects: "kubectl get NAME shows nothing",
    scope,
    verbs: ["list", "get"],
    run: async (probe) => {
      const { namespace = "", name = "" } = (await probe.listOf(1)).first.metadata;
      const answer = await probe.get(probe.pathOf({ namespace, name }), { headers: { accept: TABLE } });
      expectRows(answer.request, expectTable(answer.request, expectOk(answer)), [`${namespace}/${name}`]);
    },
  },
  {
    id: "T6.6",
    title: "a watch as Table sends Tables of one row, the first with columns, and readable bookmarks",
    protects: "kubectl get -w stops at the first event",
    scope,
    verbs: ["list", "watch"],
    run: async (probe) => {
      for (const include of [undefined, "None"]) await tableInWatch(probe, include);
    },
  },
  {
    id: "T6.7",
    title: "a list as PartialObjectMetadataList has only the metadata of its objects",
    protects: "garbage collection and metadata informers fail, or transfer whole objects",
    scope,
    verbs: ["list"],
    run: partialList,
  },
  {
    id: "T6.8",
    title: "one object as PartialObjectMetadata has only its metadata",
    protects: "namespace deletion and quota cannot read the object",
    scope,
    verbs: ["list", "get"],
    run: partialObject,
  },
  {
    id: "T6.9",
    title: "a watch as PartialObjectMetadata sends only metadata, also in bookmarks",
    protects: "metadata informers never sync",
    scope,
    verbs: ["list", "watch"],
    run: partialInWatch,
  },
];

async function tableOfList(probe: ResourceProbe): Promise<void> {
  await probe.undisturbed(async () => {
    const { items, resourceVersion } = await probe.list();
    const answer = await probe.answer({}, { accept: TABLE });
    const table = expectTable(answer.request, expectOk(answer));
    expectRows(answer.request, table, items.map(plainKeyOf));
    if (resourceVersion !== "" && versionOf(table) === "")
      fail(answer.request, "metadata.resourceVersion", show(at(table, "metadata")));
  });
}

/** Expects a Table whose rows match its columns. */
function expectTable(request: RequestLine, document: JsonObject): JsonObject {
  expectSame(request, "type", {
    expected: ["Table", META_VERSION],
    actual: [document["kind"], document["apiVersion"]],
  });
  const columns = listAt(document, "columnDefinitions");
  if (columns.length === 0) fail(request, "columnDefinitions", show(at(document, "columnDefinitions")));
  for (const column of columns) {
    const missing = ["name", "type"].find((field) => textAt(column, field) === "");
    const mistyped = typeof at(column, "priority") !== "number" || typeof at(column, "format") !== "string";
    if (missing !== undefined || mistyped) fail(request, "columns with name, type, format and priority", show(column));
  }
  expectCells(request, document, columns.length);
  return document;
}

function expectCells(request: RequestLine, table: JsonObject, columns: number): void {
  for (const row of listAt(table, "rows")) {
    const cells = listAt(row, "cells").length;
    if (cells !== columns)
      fail(request, `rows with a cell for each of ${columns} columns`, `a row with ${cells}: ${show(row)}`);
  }
}

/** Expects one row for each of these objects, with its metadata. */
function expectRows(request: RequestLine, table: JsonObject, keys: readonly string[]): void {
  const rows = listAt(table, "rows").map((row) => at(row, "object"));
  expectSame(request, "rows", { expected: keys, actual: rows.map(plainKeyOf) });
  for (const object of rows) expectPartial(request, object);
}

async function includeObject(probe: ResourceProbe): Promise<void> {
  const { first } = await probe.listOf(1);
  const headers = { accept: TABLE };
  const kinds = new Map([
    [undefined, "PartialObjectMetadata"],
    ["Metadata", "PartialObjectMetadata"],
    ["Object", probe.resource.kind],
    ["None", undefined],
  ]);
  for (const [include, kind] of kinds) {
    const answer = await probe.answer({ includeObject: include }, headers);
    const [row] = listAt(expectOk(answer), "rows");
    const object = at(row, "object") ?? undefined;
    expectSame(answer.request, "kind of the first row's object", { expected: kind, actual: at(object, "kind") });
    if (kind === undefined)
      expectSame(answer.request, "the first row's object", { expected: undefined, actual: object });
    else if (textAt(object, "metadata", "name") === "")
      fail(answer.request, `an object like ${keyOf(first)}`, show(object));
  }
}

async function tableInWatch(probe: ResourceProbe, include: string | undefined): Promise<void> {
  using initial = await probe.initialEvents({ includeObject: include }, { accept: TABLE });
  const { request } = initial.stream;
  const [first] = initial.events;
  if (first === undefined) return;
  // Later Tables may omit the columns.
  const columns = listAt(expectTable(request, first.object), "columnDefinitions").length;
  for (const event of initial.events) {
    const { kind, apiVersion } = event.object;
    expectSame(request, "type", { expected: ["Table", META_VERSION], actual: [kind, apiVersion] });
    expectSame(request, `rows of ${event.type}`, { expected: 1, actual: listAt(event.object, "rows").length });
    expectCells(request, event.object, columns);
    if (versionOf(event.object) === "")
      fail(request, "a Table with metadata.resourceVersion", show(at(event.object, "metadata")));
    if (include === undefined || endsInitialEvents(event)) expectPartial(request, eventObject(event));
  }
}

async function partialList(probe: ResourceProbe): Promise<void> {
  await probe.undisturbed(async () => {
    const { items } = await probe.list();
    const answer = await probe.answer({}, { accept: PARTIAL_LIST });
    const document = expectOk(answer);
    expectSame(answer.request, "type", {
      expected: ["PartialObjectMetadataList", META_VERSION],
      actual: [document["kind"], document["apiVersion"]],
    });
    const partial = listAt(document, "items");
    for (const object of partial) expectPartial(answer.request, object);
    expectSame(answer.request, "metadata of the list's objects: ", {
      expected: items.map(({ metadata }) => metadata),
      actual: partial.map((object) => at(object, "metadata")),
    });
  });
}

async function partialObject(probe: ResourceProbe): Promise<void> {
  await probe.undisturbed(async () => {
    const { first } = await probe.listOf(1);
    const { namespace = "", name = "" } = first.metadata;
    const answer = await probe.get(probe.pathOf({ namespace, name }), { headers: { accept: PARTIAL } });
    const object = expectOk(answer);
    expectPartial(answer.request, object);
    expectSame(answer.request, "metadata of the object: ", { expected: first.metadata, actual: object["metadata"] });
  });
}

async function partialInWatch(probe: ResourceProbe): Promise<void> {
  using initial = await probe.initialEvents({}, { accept: PARTIAL });
  for (const { object } of initial.events) expectPartial(initial.stream.request, object);
}

function expectPartial(request: RequestLine, object: unknown): void {
  expectSame(request, "type", {
    expected: ["PartialObjectMetadata", META_VERSION],
    actual: [at(object, "kind"), at(object, "apiVersion")],
  });
  const others = isObject(object)
    ? Object.keys(object).filter((key) => !["kind", "apiVersion", "metadata"].includes(key))
    : [];
  if (others.length > 0) fail(request, "only metadata", others.join(", "));
}

import { type Ask, type Breakage, type JsonObject, plainText, type Reply, refusal, rewritten } from "./breakage.ts";

/** Faults of discovery and OpenAPI. */
export const documentBreakages: readonly Breakage[] = [
  {
    name: "lists a group without a document",
    fails: ["T7.1", "T7.2", "T7.3"],
    reply: (reply, ask) =>
      changed(reply, ask, {
        path: /\/apis\/?$/,
        kind: "APIGroupList",
        change: (list) => ({ ...list, groups: [...groupsOf(list), GHOSTS] }),
      }),
  },
  {
    name: "omits a short name from aggregated discovery v2",
    fails: ["T7.2"],
    reply: (reply, ask) => aggregated(reply, ask, "v2"),
  },
  {
    name: "omits a short name from aggregated discovery v2beta1",
    fails: ["T7.3"],
    reply: (reply, ask) => aggregated(reply, ask, "v2beta1"),
  },
  {
    name: "labels aggregated discovery as plain JSON",
    fails: ["T7.2", "T7.3"],
    reply: (reply) =>
      reply.body.includes("APIGroupDiscoveryList")
        ? { ...reply, headers: { ...reply.headers, "content-type": "application/json" } }
        : reply,
  },
  {
    name: "sends a different ETag for discovery each time",
    fails: ["T7.4"],
    reply: (reply, ask) =>
      ask.path.endsWith("/root/apis")
        ? { ...reply, headers: { ...reply.headers, etag: `"${crypto.randomUUID()}"` } }
        : reply,
  },
  {
    name: "answers 304 to any ETag",
    fails: ["T7.4"],
    ask: ({ path, headers }) =>
      path.endsWith("/root/apis") && headers["if-none-match"] !== undefined
        ? { status: 304, headers: {}, body: Buffer.alloc(0) }
        : undefined,
  },
  {
    name: "advertises a resource that it does not serve",
    fails: ["T7.5"],
    reply: (reply, ask) => {
      const listed = changed(reply, ask, {
        path: /\/apis\/example\.dev\/v1\/?$/,
        kind: "APIResourceList",
        change: withGhosts,
      });
      return changed(listed, ask, { path: /\/apis\/?$/, kind: "APIGroupDiscoveryList", change: withAggregatedGhosts });
    },
  },
  {
    name: "serves verbs that it does not advertise",
    fails: ["T7.6"],
    ask: ({ method, path }) =>
      method === "DELETE" && path.includes("/notes/")
        ? { status: 200, headers: { "content-type": "application/json" }, body: Buffer.from("{}") }
        : undefined,
  },
  {
    name: "serves another kind than discovery names",
    fails: ["T7.7"],
    events: () => (event) => [
      event.type === "ADDED" && event.object["kind"] === "Note"
        ? { ...event, object: { ...event.object, kind: "Memo" } }
        : event,
    ],
  },
  {
    name: "answers 404 to paths with a trailing slash",
    fails: ["T7.8"],
    ask: ({ path, headers }) =>
      path.endsWith("/") && headers.authorization !== undefined ? refusal(404, "NotFound") : undefined,
  },
  {
    name: "forbids /version",
    fails: ["T7.9"],
    ask: ({ path, headers }) =>
      path.endsWith("/root/version") && headers.authorization !== undefined ? refusal(403, "Forbidden") : undefined,
  },
  {
    name: "omits a group from the OpenAPI v3 index",
    fails: ["T8.1"],
    reply: (reply, ask) =>
      ask.path.endsWith("/openapi/v3") && reply.status === 200
        ? rewritten(reply, (index) => ({
            ...index,
            paths: without(index["paths"] as JsonObject, "apis/example.dev/v1"),
          }))
        : reply,
  },
  {
    name: "omits the hashes from the OpenAPI v3 index",
    fails: ["T8.1", "T8.2"],
    reply: (reply, ask) =>
      ask.path.endsWith("/openapi/v3") && reply.status === 200
        ? { ...reply, body: Buffer.from(reply.body.toString("utf8").replaceAll(/\?hash=[A-F0-9]+/g, "")) }
        : reply,
  },
  {
    name: "forbids caches to keep OpenAPI documents",
    fails: ["T8.2"],
    reply: (reply, ask) =>
      ask.path.includes("/openapi/v3/")
        ? { ...reply, headers: { ...reply.headers, "cache-control": "no-cache" } }
        : reply,
  },
  {
    name: "answers an old hash with the new document",
    fails: ["T8.2"],
    ask: ({ query }) => {
      if (query.get("hash") === "0") query.delete("hash");
      return undefined;
    },
  },
  {
    name: "refers to missing schemas",
    fails: ["T8.3"],
    reply: (reply, ask) => (ask.path.endsWith("/openapi/v3/apis/example.dev/v1") ? rewritten(reply, dangling) : reply),
  },
  {
    name: "omits the kind of a schema",
    fails: ["T8.4"],
    reply: (reply, ask) =>
      openApi(reply, ask, (document) =>
        eachSchema(document, (schema) => without(schema, "x-kubernetes-group-version-kind")),
      ),
  },
  {
    name: "serves schemas without fields",
    fails: ["T8.4"],
    reply: (reply, ask) =>
      openApi(reply, ask, (document) => eachSchema(document, (schema) => without(schema, "properties"))),
  },
  {
    name: "serves an empty OpenAPI v2",
    fails: ["T8.5"],
    reply: (reply, ask) =>
      ask.path.endsWith("/openapi/v2") && reply.status === 200 ? { ...reply, body: Buffer.alloc(0) } : reply,
  },
  {
    name: "omits the kind of an operation",
    fails: ["T8.6"],
    reply: (reply, ask) =>
      openApi(
        reply,
        ask,
        (document) =>
          JSON.parse(
            JSON.stringify(document).replaceAll(/"x-kubernetes-group-version-kind":\{[^}]*\}/g, '"x-gone":0'),
          ) as JsonObject,
      ),
  },
  {
    name: "answers 404 for an OpenAPI document in plain text",
    fails: ["T8.2", "T8.3", "T8.4", "T8.6"],
    ask: ({ path }) => (path.endsWith("/openapi/v3/apis/example.dev/v1") ? plainText(404) : undefined),
  },
];

const GHOSTS = {
  name: "ghosts.dev",
  versions: [{ groupVersion: "ghosts.dev/v1", version: "v1" }],
  preferredVersion: { groupVersion: "ghosts.dev/v1", version: "v1" },
};

interface Change {
  readonly path: RegExp;
  readonly kind: string;
  readonly change: (document: JsonObject) => JsonObject;
}

function changed(reply: Reply, ask: Ask, { path, kind, change }: Change): Reply {
  if (!path.test(ask.path) || reply.status !== 200) return reply;
  return rewritten(reply, (document) => (document["kind"] === kind ? change(document) : document));
}

function aggregated(reply: Reply, ask: Ask, version: string): Reply {
  const forget = (list: JsonObject): JsonObject =>
    list["apiVersion"] === `apidiscovery.k8s.io/${version}`
      ? (JSON.parse(JSON.stringify(list).replace(/,?"shortNames":\["nt"\]/, "")) as JsonObject)
      : list;
  return changed(reply, ask, { path: /\/apis\/?$/, kind: "APIGroupDiscoveryList", change: forget });
}

function groupsOf(list: JsonObject): readonly unknown[] {
  return list["groups"] as readonly unknown[];
}

function withGhosts(list: JsonObject): JsonObject {
  const ghosts = {
    name: "ghosts",
    singularName: "ghost",
    namespaced: true,
    kind: "Ghost",
    verbs: ["get", "list", "watch"],
  };
  return { ...list, resources: [...(list["resources"] as readonly unknown[]), ghosts] };
}

function withAggregatedGhosts(list: JsonObject): JsonObject {
  const kind = { group: "example.dev", version: "v1", kind: "Ghost" };
  const ghosts = {
    resource: "ghosts",
    responseKind: kind,
    scope: "Namespaced",
    singularResource: "ghost",
    verbs: ["get", "list", "watch"],
  };
  return JSON.parse(
    JSON.stringify(list).replace('"resources":[', `"resources":[${JSON.stringify(ghosts)},`),
  ) as JsonObject;
}

function without(document: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => name !== field));
}

function openApi(reply: Reply, ask: Ask, change: (document: JsonObject) => JsonObject): Reply {
  return ask.path.endsWith("/openapi/v3/apis/example.dev/v1") && reply.status === 200
    ? rewritten(reply, change)
    : reply;
}

function eachSchema(document: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const { schemas } = document["components"] as { readonly schemas: Readonly<Record<string, JsonObject>> };
  return {
    ...document,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)])),
    },
  };
}

function dangling(document: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(document).replace(
      /"\$ref":"#\/components\/schemas\/[^"]*ListMeta"/,
      '"$ref":"#/components/schemas/Gone"',
    ),
  ) as JsonObject;
}

// Why: a check that cannot fail is a defect. Each of these is one fault of a space provider, with exactly the checks that
// must notice it.
import {
  type Ask,
  type Breakage,
  type JsonObject,
  plainText,
  type Reply,
  refusal,
  rewritten,
  type Told,
} from "../broken/breakage.ts";

const isList = ({ method, path, query }: Ask): boolean =>
  method === "GET" && path.endsWith("/v1/spaces") && !query.has("watch");
const isSpace = ({ method, path }: Ask, of = "GET"): boolean => method === of && /\/v1\/spaces\/[^/]+$/.test(path);
const isKubeconfig = ({ path }: Ask): boolean => path.endsWith("/kubeconfig");
const isHostile = ({ path }: Ask): boolean => /%|\/[-.]c|a{200}/.test(path);
const items = (list: JsonObject): readonly JsonObject[] => (list["items"] ?? []) as readonly JsonObject[];
const AS_KNOWN = "Bearer managers-token";
const DONE = { status: 202, headers: {}, body: Buffer.alloc(0) };
const json = (value: object, status = 200) => ({
  ...{ status, headers: { "content-type": "application/json" } },
  body: Buffer.from(JSON.stringify(value)),
});

/** Authenticates the caller as the manager, if `is` is true. */
function asKnown(headers: Ask["headers"], is: boolean): undefined {
  if (is) headers.authorization = AS_KNOWN;
}

/** Whether the request is for the space of a run. */
const isMade = ({ path }: Ask): boolean => /\/conformance-[0-9a-f]{8}$/.test(path);
const isOld = ({ name }: JsonObject): boolean => !/^conformance-/.test(String(name));

/** Adapts lines of watches, which are events without objects. */
const lines =
  (change: (line: Told) => readonly Told[]): Required<Breakage>["events"] =>
  () =>
    change;

/** Answers the second matching request with `reply`. */
function second(is: (ask: Ask) => boolean, reply: Reply): Required<Breakage>["ask"] {
  let times = 0;
  return (ask) => {
    times += is(ask) ? 1 : 0;
    return is(ask) && times === 2 ? reply : undefined;
  };
}

/** Changes answers after the method was used this often for the space of the run. */
function behind(method: string, times: number, change: (reply: Reply, ask: Ask) => Reply): Required<Breakage>["reply"] {
  let asked = 0;
  return (reply, ask) => {
    asked += isSpace(ask, method) && isMade(ask) ? 1 : 0;
    return asked >= times ? change(reply, ask) : reply;
  };
}

let made = "";
let isDeleted = false;

export const breakages: readonly Breakage[] = [
  {
    name: "omits its capabilities",
    fails: ["P1.1"],
    reply: (reply, { path }) => (path.endsWith("/v1/status") && reply.status === 200 ? json({ ready: true }) : reply),
  },
  {
    name: "is never ready",
    fails: ["P1.1"],
    reply: (reply, { path }) =>
      path.endsWith("/v1/status")
        ? rewritten(reply, (status) => ("ready" in status ? { ...status, ready: false } : status))
        : reply,
  },
  {
    name: "serves the OpenAPI document of another API",
    fails: ["P1.2"],
    reply: (reply, { path }) =>
      path.endsWith("/openapi.json") && reply.status === 200
        ? json({ openapi: "3.1.0", paths: { "/v1/status": {} } })
        : reply,
  },
  {
    name: "lists spaces in order of creation",
    fails: ["P2.1"],
    reply: (reply, ask) =>
      isList(ask) ? rewritten(reply, (list) => ({ ...list, items: [...items(list)].reverse() })) : reply,
  },
  {
    name: "lists spaces with an unknown phase",
    fails: ["P2.1", "P2.2", "P2.3", "P7.1", "P7.5"],
    reply: (reply, ask) =>
      isList(ask) && reply.status === 200
        ? rewritten(reply, (list) => ({ ...list, items: items(list).map((one) => ({ ...one, phase: "Up" })) }))
        : reply,
  },
  {
    name: "returns different ids for get and list",
    fails: ["P2.2"],
    reply: (reply, ask) =>
      isSpace(ask) && /\/[ab]$/.test(ask.path) ? rewritten(reply, (space) => ({ ...space, id: "another" })) : reply,
  },
  {
    name: "answers 404 for a space that it lists",
    fails: ["P2.2"],
    ask: (ask) =>
      isSpace(ask) && ask.path.endsWith("/a") && ask.headers.authorization === AS_KNOWN
        ? json({ ...JSON.parse(refusal(404, "NotFound").body.toString()), details: { kind: "spaces", name: "a" } }, 404)
        : undefined,
  },
  {
    name: "omits a space from each page after the first",
    fails: ["P2.3"],
    reply: (reply, ask) =>
      isList(ask) && ask.query.has("continue")
        ? rewritten(reply, (list) => ("items" in list ? { ...list, items: items(list).slice(1) } : list))
        : reply,
  },
  {
    name: "ignores the limit of a page",
    fails: ["P2.3"],
    ask: ({ query }) => void (/^\d/.test(query.get("limit") ?? "") && query.set("limit", "100")),
  },
  {
    name: "ignores an invalid limit",
    fails: ["P2.4"],
    ask: ({ query }) => void (query.get("limit") === "many" && query.delete("limit")),
  },
  {
    name: "treats an invalid continue token as the first page",
    fails: ["P2.4"],
    ask: ({ query }) => void (query.get("continue") === "conformance no page" && query.delete("continue")),
  },
  {
    name: "answers 404 for a space in plain text",
    fails: ["P3.1"],
    reply: (reply, ask) =>
      reply.status === 404 && ask.path.endsWith("v1/spaces/conformance-no-such-space") ? plainText(404) : reply,
  },
  {
    name: "omits the space's name from a 404",
    fails: ["P3.1", "P5.4"],
    reply: (reply, { path }) =>
      reply.status === 404 && path.includes("no-such-space") && !path.includes("v2") ? refusal(404, "NotFound") : reply,
  },
  {
    name: "names a space in the 404 of an unknown path",
    fails: ["P3.2"],
    reply: (reply, { path }) =>
      path.endsWith("/v1/nothing")
        ? rewritten(reply, (status) => ({ ...status, details: { kind: "spaces", name: "nothing" } }))
        : reply,
  },
  {
    name: "executes the wrong method",
    fails: ["P3.3"],
    reply: (reply, { method }) => (method === "PATCH" && reply.status === 405 ? json({ items: [] }) : reply),
  },
  {
    name: "decodes names twice",
    fails: ["P3.4"],
    reply: (reply, ask) =>
      isHostile(ask) && reply.status === 400 && ask.method === "GET" ? json({ name: "a", phase: "Ready" }) : reply,
  },
  {
    name: "answers 500 to invalid names",
    fails: ["P3.4"],
    reply: (reply, ask) => (isHostile(ask) && reply.status === 400 ? refusal(500, "InternalError") : reply),
  },
  {
    name: "ignores the parameter parent",
    fails: ["P3.5"],
    ask: ({ query }) => query.delete("parent") as unknown as undefined,
  },
  {
    name: "accepts requests without credentials",
    fails: ["P4.1"],
    ask: ({ headers }) => asKnown(headers, headers.authorization === undefined),
  },
  {
    name: "serves its status to unauthenticated clients",
    fails: ["P4.1"],
    ask: ({ headers, path }) => asKnown(headers, path.endsWith("/v1/status") && headers.authorization === undefined),
  },
  {
    name: "accepts any token",
    fails: ["P4.2"],
    ask: ({ headers }) => asKnown(headers, headers.authorization !== undefined),
  },
  {
    name: "rejects an unknown token in plain text",
    fails: ["P4.1", "P4.2"],
    reply: (reply) => (reply.status === 401 ? plainText(401) : reply),
  },
  {
    name: "serves kubeconfigs that run a program",
    fails: ["P5.1"],
    reply: (reply, ask) =>
      isKubeconfig(ask) && reply.status === 200
        ? { ...reply, body: Buffer.from(reply.body.toString().replace('"token":', '"exec":{"command":"x"},"token":')) }
        : reply,
  },
  {
    name: "serves kubeconfigs as plain text",
    fails: ["P5.1"],
    reply: (reply, ask) =>
      isKubeconfig(ask) && reply.status === 200
        ? { ...reply, headers: { ...reply.headers, "content-type": "text/plain" } }
        : reply,
  },
  {
    name: "allows caches to store kubeconfigs",
    fails: ["P5.2"],
    reply: (reply, ask) =>
      isKubeconfig(ask) ? { ...reply, headers: { ...reply.headers, "cache-control": "no-cache" } } : reply,
  },
  {
    name: "serves a kubeconfig without a scope in the request",
    fails: ["P5.3"],
    ask: (ask) =>
      void (isKubeconfig(ask) && ask.query.get("scope") !== "incluster" && ask.query.set("scope", "external")),
  },
  {
    name: "serves kubeconfigs of missing spaces",
    fails: ["P5.4"],
    reply: (reply, ask) =>
      isKubeconfig(ask) && reply.status === 404
        ? { ...json({}), headers: { "content-type": "application/yaml" } }
        : reply,
  },
  { name: "sends watches as another media type", fails: ["P6.1"], watchType: "application/json" },
  {
    name: "sends no line before the first change",
    fails: ["P6.1", "P6.2"],
    events: lines((line) => (line.type === "BOOKMARK" ? [] : [line])),
  },
  {
    name: "sends unknown event types in watches",
    fails: ["P6.1", "P6.2", "P7.1"],
    events: lines((line) => [{ ...line, type: "ADDED" }]),
  },
  {
    name: "sends nothing after the first line",
    fails: ["P6.2"],
    events: () => {
      let said = 0;
      return (line) => (line.type === "BOOKMARK" && said++ > 0 ? [] : [line]);
    },
  },
  {
    name: "ignores an invalid value of watch",
    fails: ["P6.3"],
    ask: ({ query }) => void (query.get("watch") === "conformance" && query.delete("watch")),
  },
  {
    name: "accepts a create without creating a space",
    fails: ["P7.1"],
    ask: (ask) => (isSpace(ask, "PUT") ? DONE : undefined),
  },
  {
    name: "answers a create with another status code",
    fails: ["P7.1"],
    reply: (reply, ask) => (isSpace(ask, "PUT") && reply.status === 202 ? json({}, 201) : reply),
  },
  {
    name: "does not list a created space",
    fails: ["P7.1"],
    reply: (reply, ask) =>
      isList(ask)
        ? rewritten(reply, (list) => ("items" in list ? { ...list, items: items(list).filter(isOld) } : list))
        : reply,
  },
  {
    name: "replaces the space in a second create",
    fails: ["P7.2"],
    reply: behind("PUT", 2, (reply, ask) =>
      isSpace(ask) && isMade(ask) && reply.status === 200
        ? rewritten(reply, (space) => ({ ...space, id: "another" }))
        : reply,
    ),
  },
  {
    name: "rejects a second create",
    fails: ["P7.2"],
    ask: second((ask) => isSpace(ask, "PUT"), refusal(409, "AlreadyExists")),
  },
  {
    name: "sends no changes in watches",
    fails: ["P7.3", "P7.7"],
    events: lines((line) => (line.type === "CHANGED" ? [] : [line])),
  },
  {
    name: "accepts any parameters of a space",
    fails: ["P7.4"],
    reply: (reply, ask) => (isSpace(ask, "PUT") && [400, 413, 415].includes(reply.status) ? DONE : reply),
  },
  {
    name: "accepts a delete without deleting the space",
    fails: ["P7.5"],
    ask: (ask) => (isSpace(ask, "DELETE") && isMade(ask) ? DONE : undefined),
  },
  {
    name: "lists deleted spaces",
    fails: ["P7.5"],
    reply: behind("DELETE", 1, (reply, ask) =>
      isList(ask) && reply.status === 200
        ? rewritten(reply, (list) => ({ ...list, items: [...items(list), { name: made, phase: "Initializing" }] }))
        : reply,
    ),
    ask: (ask) => {
      if (isMade(ask)) made = ask.path.split("/").at(-1) ?? "";
      return undefined;
    },
  },
  {
    name: "rejects a second delete",
    fails: ["P7.6"],
    ask: second((ask) => isSpace(ask, "DELETE") && isMade(ask), refusal(409, "Conflict")),
  },
  {
    name: "reports the deletion of a space under another name",
    fails: ["P7.7"],
    ask: (ask) => {
      if (isSpace(ask, "DELETE") && isMade(ask)) isDeleted = true;
      return undefined;
    },
    events: lines((line) => [isDeleted && line.type === "CHANGED" ? ({ ...line, name: "b" } as Told) : line]),
  },
];

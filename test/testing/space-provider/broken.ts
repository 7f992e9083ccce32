// Why: a check that cannot fail is a defect. Each of these is one thing that a space provider gets wrong, and the checks that must notice it: those and no others.
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

/** Takes whoever asks for the manager. */
function asKnown(headers: Ask["headers"], is: boolean): undefined {
  if (is) headers.authorization = AS_KNOWN;
}

/** The space that a run makes. */
const isMade = ({ path }: Ask): boolean => /\/conformance-[0-9a-f]{8}$/.test(path);
const isOld = ({ name }: JsonObject): boolean => !/^conformance-/.test(String(name));

/** Lines of watches are events without objects. */
const lines =
  (change: (line: Told) => readonly Told[]): Required<Breakage>["events"] =>
  () =>
    change;

/** Answers so what is asked for the second time. */
function second(is: (ask: Ask) => boolean, reply: Reply): Required<Breakage>["ask"] {
  let times = 0;
  return (ask) => {
    times += is(ask) ? 1 : 0;
    return is(ask) && times === 2 ? reply : undefined;
  };
}

/** What becomes of answers once the space of the run has been asked for, by a method, so often. */
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
    name: "does not say what it is able to do",
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
    name: "serves a document of something else",
    fails: ["P1.2"],
    reply: (reply, { path }) =>
      path.endsWith("/openapi.json") && reply.status === 200
        ? json({ openapi: "3.1.0", paths: { "/v1/status": {} } })
        : reply,
  },
  {
    name: "lists spaces as they were made",
    fails: ["P2.1"],
    reply: (reply, ask) =>
      isList(ask) ? rewritten(reply, (list) => ({ ...list, items: [...items(list)].reverse() })) : reply,
  },
  {
    name: "lists spaces of a phase that there is not",
    fails: ["P2.1", "P2.2", "P2.3", "P7.1", "P7.5"],
    reply: (reply, ask) =>
      isList(ask) && reply.status === 200
        ? rewritten(reply, (list) => ({ ...list, items: items(list).map((one) => ({ ...one, phase: "Up" })) }))
        : reply,
  },
  {
    name: "has spaces of other ids than it lists",
    fails: ["P2.2"],
    reply: (reply, ask) =>
      isSpace(ask) && /\/[ab]$/.test(ask.path) ? rewritten(reply, (space) => ({ ...space, id: "another" })) : reply,
  },
  {
    name: "does not know of what it lists",
    fails: ["P2.2"],
    ask: (ask) =>
      isSpace(ask) && ask.path.endsWith("/a") && ask.headers.authorization === AS_KNOWN
        ? json({ ...JSON.parse(refusal(404, "NotFound").body.toString()), details: { kind: "spaces", name: "a" } }, 404)
        : undefined,
  },
  {
    name: "leaves a space out of each page but the first",
    fails: ["P2.3"],
    reply: (reply, ask) =>
      isList(ask) && ask.query.has("continue")
        ? rewritten(reply, (list) => ("items" in list ? { ...list, items: items(list).slice(1) } : list))
        : reply,
  },
  {
    name: "has pages as long as it likes",
    fails: ["P2.3"],
    ask: ({ query }) => void (/^\d/.test(query.get("limit") ?? "") && query.set("limit", "100")),
  },
  {
    name: "takes a limit that is none for none",
    fails: ["P2.4"],
    ask: ({ query }) => void (query.get("limit") === "many" && query.delete("limit")),
  },
  {
    name: "takes a page that is none for the first",
    fails: ["P2.4"],
    ask: ({ query }) => void (query.get("continue") === "conformance no page" && query.delete("continue")),
  },
  {
    name: "says in plain text that a space is not there",
    fails: ["P3.1"],
    reply: (reply, ask) =>
      reply.status === 404 && ask.path.endsWith("v1/spaces/conformance-no-such-space") ? plainText(404) : reply,
  },
  {
    name: "does not say which space is not there",
    fails: ["P3.1", "P5.4"],
    reply: (reply, { path }) =>
      reply.status === 404 && path.includes("no-such-space") && !path.includes("v2") ? refusal(404, "NotFound") : reply,
  },
  {
    name: "says of a path that is none that a space is not there",
    fails: ["P3.2"],
    reply: (reply, { path }) =>
      path.endsWith("/v1/nothing")
        ? rewritten(reply, (status) => ({ ...status, details: { kind: "spaces", name: "nothing" } }))
        : reply,
  },
  {
    name: "takes one method for another",
    fails: ["P3.3"],
    reply: (reply, { method }) => (method === "PATCH" && reply.status === 405 ? json({ items: [] }) : reply),
  },
  {
    name: "reads names twice",
    fails: ["P3.4"],
    reply: (reply, ask) =>
      isHostile(ask) && reply.status === 400 && ask.method === "GET" ? json({ name: "a", phase: "Ready" }) : reply,
  },
  {
    name: "falls over names that are none",
    fails: ["P3.4"],
    reply: (reply, ask) => (isHostile(ask) && reply.status === 400 ? refusal(500, "InternalError") : reply),
  },
  {
    name: "lists for whoever wants spaces below others",
    fails: ["P3.5"],
    ask: ({ query }) => query.delete("parent") as unknown as undefined,
  },
  {
    name: "lets strangers in",
    fails: ["P4.1"],
    ask: ({ headers }) => asKnown(headers, headers.authorization === undefined),
  },
  {
    name: "tells strangers how it is",
    fails: ["P4.1"],
    ask: ({ headers, path }) => asKnown(headers, path.endsWith("/v1/status") && headers.authorization === undefined),
  },
  {
    name: "takes any token",
    fails: ["P4.2"],
    ask: ({ headers }) => asKnown(headers, headers.authorization !== undefined),
  },
  {
    name: "says in plain text that a token is not known",
    fails: ["P4.1", "P4.2"],
    reply: (reply) => (reply.status === 401 ? plainText(401) : reply),
  },
  {
    name: "has kubeconfigs that run a program",
    fails: ["P5.1"],
    reply: (reply, ask) =>
      isKubeconfig(ask) && reply.status === 200
        ? { ...reply, body: Buffer.from(reply.body.toString().replace('"token":', '"exec":{"command":"x"},"token":')) }
        : reply,
  },
  {
    name: "has kubeconfigs of no kind",
    fails: ["P5.1"],
    reply: (reply, ask) =>
      isKubeconfig(ask) && reply.status === 200
        ? { ...reply, headers: { ...reply.headers, "content-type": "text/plain" } }
        : reply,
  },
  {
    name: "lets kubeconfigs be kept",
    fails: ["P5.2"],
    reply: (reply, ask) =>
      isKubeconfig(ask) ? { ...reply, headers: { ...reply.headers, "cache-control": "no-cache" } } : reply,
  },
  {
    name: "has a kubeconfig for those who do not say from where",
    fails: ["P5.3"],
    ask: (ask) =>
      void (isKubeconfig(ask) && ask.query.get("scope") !== "incluster" && ask.query.set("scope", "external")),
  },
  {
    name: "has kubeconfigs of spaces that are not there",
    fails: ["P5.4"],
    reply: (reply, ask) =>
      isKubeconfig(ask) && reply.status === 404
        ? { ...json({}), headers: { "content-type": "application/yaml" } }
        : reply,
  },
  { name: "has watches of another type", fails: ["P6.1"], watchType: "application/json" },
  {
    name: "says nothing until something changes",
    fails: ["P6.1", "P6.2"],
    events: lines((line) => (line.type === "BOOKMARK" ? [] : [line])),
  },
  {
    name: "says things of its own in watches",
    fails: ["P6.1", "P6.2", "P7.1"],
    events: lines((line) => [{ ...line, type: "ADDED" }]),
  },
  {
    name: "is silent behind the first line",
    fails: ["P6.2"],
    events: () => {
      let said = 0;
      return (line) => (line.type === "BOOKMARK" && said++ > 0 ? [] : [line]);
    },
  },
  {
    name: "takes any watch for none",
    fails: ["P6.3"],
    ask: ({ query }) => void (query.get("watch") === "conformance" && query.delete("watch")),
  },
  {
    name: "says to have made what it has not",
    fails: ["P7.1"],
    ask: (ask) => (isSpace(ask, "PUT") ? DONE : undefined),
  },
  {
    name: "says in another way that it makes a space",
    fails: ["P7.1"],
    reply: (reply, ask) => (isSpace(ask, "PUT") && reply.status === 202 ? json({}, 201) : reply),
  },
  {
    name: "lists what it has made when it likes",
    fails: ["P7.1"],
    reply: (reply, ask) =>
      isList(ask)
        ? rewritten(reply, (list) => ("items" in list ? { ...list, items: items(list).filter(isOld) } : list))
        : reply,
  },
  {
    name: "makes another space for the same name",
    fails: ["P7.2"],
    reply: behind("PUT", 2, (reply, ask) =>
      isSpace(ask) && isMade(ask) && reply.status === 200
        ? rewritten(reply, (space) => ({ ...space, id: "another" }))
        : reply,
    ),
  },
  {
    name: "refuses to make what is there",
    fails: ["P7.2"],
    ask: second((ask) => isSpace(ask, "PUT"), refusal(409, "AlreadyExists")),
  },
  {
    name: "does not say in watches what comes and goes",
    fails: ["P7.3", "P7.7"],
    events: lines((line) => (line.type === "CHANGED" ? [] : [line])),
  },
  {
    name: "takes any wish",
    fails: ["P7.4"],
    reply: (reply, ask) => (isSpace(ask, "PUT") && [400, 413, 415].includes(reply.status) ? DONE : reply),
  },
  {
    name: "says to have deleted what it has not",
    fails: ["P7.5"],
    ask: (ask) => (isSpace(ask, "DELETE") && isMade(ask) ? DONE : undefined),
  },
  {
    name: "lists what is deleted",
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
    name: "refuses to delete what is deleted",
    fails: ["P7.6"],
    ask: second((ask) => isSpace(ask, "DELETE") && isMade(ask), refusal(409, "Conflict")),
  },
  {
    name: "says of the deletion of one space that it was another's",
    fails: ["P7.7"],
    ask: (ask) => {
      if (isSpace(ask, "DELETE") && isMade(ask)) isDeleted = true;
      return undefined;
    },
    events: lines((line) => [isDeleted && line.type === "CHANGED" ? ({ ...line, name: "b" } as Told) : line]),
  },
];

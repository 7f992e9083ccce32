import {
  type Ask,
  type Breakage,
  forget,
  isList,
  isObject,
  type JsonObject,
  refusal,
  rewritten,
  withMetadata,
} from "./breakage.ts";

const ANCIENT = "1";

/** Faults of past and future versions, and of the order of versions. */
export const versionBreakages: readonly Breakage[] = [
  {
    name: "answers watches from an old version with HTTP 410",
    fails: ["T2.1", "T2.2"],
    ask: ({ isWatch, query }) =>
      isWatch && query.get("resourceVersion") === ANCIENT ? refusal(410, "Expired") : undefined,
  },
  {
    name: "starts a watch from an old version at the newest one",
    fails: ["T2.1", "T2.2"],
    ask: (ask) =>
      ask.isWatch && ask.query.get("resourceVersion") === ANCIENT ? forget(ask, "resourceVersion") : undefined,
  },
  {
    name: "filters ERROR events by selector",
    fails: ["T2.1"],
    events:
      ({ query }) =>
      (event) =>
        event.type === "ERROR" && query.has("labelSelector") ? [] : [event],
  },
  {
    name: "wraps the Status of an ERROR event into a Table",
    fails: ["T2.2"],
    events:
      ({ headers }) =>
      (event) => {
        if (event.type !== "ERROR" || !headers.accept?.includes("Table")) return [event];
        return [
          {
            ...event,
            object: { kind: "Table", apiVersion: "meta.k8s.io/v1", rows: [{ cells: [], object: event.object }] },
          },
        ];
      },
  },
  {
    name: "lists the current state for an old version",
    fails: ["T2.3"],
    ask: (ask) =>
      isList(ask) && ask.query.get("resourceVersion") === ANCIENT
        ? forget(ask, "resourceVersion", "resourceVersionMatch")
        : undefined,
  },
  {
    name: "starts over for an expired continue token",
    fails: ["T2.4"],
    ask: (ask) => (tokenOf(ask)?.["rv"] === ANCIENT ? forget(ask, "continue") : undefined),
  },
  {
    name: "serves lists older than NotOlderThan allows",
    fails: ["T3.1"],
    reply: (reply, ask) =>
      isList(ask) && ask.query.get("resourceVersionMatch") === "NotOlderThan" && reply.status === 200
        ? rewritten(reply, (list) => withMetadata(list, { resourceVersion: "1000" }))
        : reply,
  },
  {
    name: "returns another version than the requested exact one",
    fails: ["T3.2", "T3.14"],
    reply: (reply, ask) =>
      isList(ask) && ask.query.get("resourceVersionMatch") === "Exact" && reply.status === 200
        ? rewritten(reply, nextVersion)
        : reply,
  },
  {
    name: "treats Exact as NotOlderThan",
    fails: ["T3.14"],
    ask: ({ isWatch, query }) => {
      if (!isWatch && query.get("resourceVersionMatch") === "Exact" && query.get("resourceVersion") !== "0")
        query.set("resourceVersionMatch", "NotOlderThan");
      return undefined;
    },
  },
  {
    name: "treats a future version as the newest",
    fails: ["T3.3"],
    ask: (ask) => (!ask.isWatch && isFuture(ask) ? forget(ask, "resourceVersion", "resourceVersionMatch") : undefined),
  },
  {
    name: "omits the cause of a 504 for a future version",
    fails: ["T3.3"],
    ask: (ask) => (!ask.isWatch && isFuture(ask) ? refusal(504, "Timeout") : undefined),
  },
  {
    name: "confirms initial events for a future version",
    fails: ["T3.4"],
    ask: (ask) => (ask.isWatch && isFuture(ask) ? forget(ask, "resourceVersion") : undefined),
  },
  {
    name: "ignores a malformed version of a list",
    fails: ["T3.5"],
    ask: (ask) => (isList(ask) && isMalformed(ask) ? forget(ask, "resourceVersion") : undefined),
  },
  {
    name: "ignores a malformed version of a watch",
    fails: ["T3.6"],
    ask: (ask) => (ask.isWatch && isMalformed(ask) ? forget(ask, "resourceVersion") : undefined),
  },
  {
    name: "answers 400 to contradictory list options",
    fails: ["T3.7"],
    reply: (reply, ask) => (reply.status === 422 && !ask.isWatch ? refusal(400, "BadRequest") : reply),
  },
  {
    name: "names no field of contradictory watch options",
    fails: ["T3.8"],
    reply: (reply, ask) =>
      reply.status === 422 && ask.isWatch ? rewritten(reply, (status) => ({ ...status, details: {} })) : reply,
  },
  {
    name: "sends no initial objects in a watch from 0",
    fails: ["T3.9"],
    events:
      ({ query }) =>
      (event) =>
        query.get("resourceVersion") === "0" && event.type === "ADDED" ? [] : [event],
  },
  {
    name: "uses UUIDs as versions of lists",
    fails: ["T4.1", "T4.4"],
    ...listVersions(stable(() => crypto.randomUUID())),
  },
  {
    name: "omits the versions of lists",
    fails: ["T4.1", "T4.4"],
    ...listVersions(() => ""),
  },
  {
    name: "lists objects newer than the list",
    fails: ["T4.1", "T4.4"],
    ...listVersions(stable((list) => String(BigInt(oldest(list)) - 1n))),
  },
  {
    name: "gives every list a new version",
    fails: ["T4.2"],
    ...listVersions((list, count) => String(BigInt(versionOf(list)) + count)),
  },
  {
    name: "returns a different object for get and list",
    fails: ["T4.3", "T6.2"],
    reply: (reply, ask) =>
      isObject(ask) && reply.status === 200 && ask.headers.accept === "application/json"
        ? rewritten(reply, (object) => withMetadata(object, { generation: 99 }))
        : reply,
  },
  {
    name: "repeats the version of an object that has changed",
    fails: ["T4.4", "T4.5"],
    events: ({ query }) => {
      let before = query.get("resourceVersion") ?? "";
      return (event) => {
        if (event.type === "MODIFIED")
          return [{ ...event, object: withMetadata(event.object, { resourceVersion: before }) }];
        before = versionOf(event.object);
        return [event];
      };
    },
  },
  {
    name: "resumes one event too late",
    fails: ["T4.5"],
    events: ({ query }) => {
      let first = query.has("resourceVersion");
      return (event) => {
        const lost = first && event.type === "MODIFIED";
        first = false;
        return lost ? [] : [event];
      };
    },
  },
];

/** Generates a version for a list. */
type Make = (list: JsonObject, count: bigint) => string;

/** Gives equal lists equal versions. */
function stable(make: Make): Make {
  const made = new Map<string, string>();
  return (list, count) => {
    const told = made.get(versionOf(list)) ?? make(list, count);
    made.set(versionOf(list), told);
    return told;
  };
}

/** Replaces the versions of lists by generated ones, which the server accepts in later requests. */
function listVersions(make: Make): Pick<Breakage, "ask" | "reply"> {
  const real = new Map<string, string>();
  const asked = new WeakMap<Ask, string>();
  let count = 0n;
  const tell = (list: JsonObject, ask: Ask): JsonObject => {
    count += 1n;
    const told = asked.get(ask) ?? make(list, count);
    real.set(told, versionOf(list));
    return withMetadata(list, { resourceVersion: told });
  };
  return {
    ask: (ask) => {
      const told = ask.query.get("resourceVersion");
      const version = real.get(told ?? "");
      if (told === null || version === undefined) return undefined;
      if (ask.query.get("resourceVersionMatch") === "Exact") asked.set(ask, told);
      ask.query.set("resourceVersion", version);
      return undefined;
    },
    reply: (reply, ask) =>
      isList(ask) && reply.status === 200 && !ask.query.has("limit")
        ? rewritten(reply, (list) => tell(list, ask))
        : reply,
  };
}

function isFuture(ask: Ask): boolean {
  const version = ask.query.get("resourceVersion") ?? "";
  return /^\d{19}$/.test(version) && BigInt(version) > now() + 500_000_000_000_000n;
}

/** Returns approximately the version that a server issues now: milliseconds since 2020, with 2^23 versions each. */
function now(): bigint {
  return BigInt(Date.now() - Date.UTC(2020, 0, 1)) * 2n ** 23n;
}

function isMalformed({ query }: Ask): boolean {
  return query.has("resourceVersion") && !/^\d*$/.test(query.get("resourceVersion") ?? "");
}

function tokenOf({ query }: Ask): JsonObject | undefined {
  try {
    return JSON.parse(Buffer.from(query.get("continue") ?? "", "base64url").toString("utf8")) as JsonObject;
  } catch {
    return undefined;
  }
}

function versionOf(document: JsonObject): string {
  return String((document["metadata"] as JsonObject)["resourceVersion"]);
}

function nextVersion(list: JsonObject): JsonObject {
  return withMetadata(list, { resourceVersion: String(BigInt(versionOf(list)) + 1n) });
}

function oldest(list: JsonObject): string {
  const versions = (list["items"] as readonly JsonObject[] | undefined)?.map(versionOf).sort();
  return versions?.[0] ?? versionOf(list);
}

import { type Ask, type Breakage, forget, isList, type JsonObject, rewritten, withMetadata } from "./breakage.ts";

/** Faults of shards. */
export const shardBreakages: readonly Breakage[] = [
  {
    name: "lists the objects of all shards under the name of one",
    fails: ["T15.1"],
    ask: (ask) => (SHARD.test(ask.query.get("shardSelector") ?? "") ? renamed(ask) : undefined),
    reply: (reply, ask) => {
      const selector = ask.query.get("named");
      return selector === null ? reply : rewritten(reply, (list) => withMetadata(list, { shardInfo: { selector } }));
    },
  },
  {
    name: "watches the objects of all shards",
    fails: ["T15.2"],
    ask: (ask) => (ask.isWatch ? forget(ask, "shardSelector") : undefined),
  },
  {
    name: "ignores a malformed shard selector",
    fails: ["T15.3"],
    ask: (ask) => (ask.query.get("shardSelector") === "all" ? forget(ask, "shardSelector") : undefined),
  },
];

const SHARD = /^shardRange.*'0x[0-9a-f]{16}'/;

function renamed(ask: Ask): undefined {
  ask.query.set("named", ask.query.get("shardSelector") ?? "");
  return forget(ask, "shardSelector");
}

/** Faults of paged lists. */
export const pageBreakages: readonly Breakage[] = [
  {
    name: "omits an object from each page after the first",
    fails: ["T3.10", "T3.13"],
    reply: (reply, ask) =>
      isLaterPage(ask) && reply.status === 200
        ? rewritten(reply, (list) => ({ ...list, items: itemsOf(list).slice(1) }))
        : reply,
  },
  {
    name: "gives each page a different version",
    fails: ["T3.10", "T3.13"],
    reply: (reply, ask) =>
      isLaterPage(ask) && reply.status === 200
        ? rewritten(reply, (list) => withMetadata(list, { resourceVersion: "1000" }))
        : reply,
  },
  {
    name: "miscounts the remaining items",
    fails: ["T3.11"],
    reply: (reply, ask) => (isList(ask) ? rewritten(reply, miscounted) : reply),
  },
  {
    name: "ignores a malformed continue token",
    fails: ["T3.12"],
    ask: (ask) => (ask.query.get("continue") === "no token" ? forget(ask, "continue") : undefined),
  },
  {
    name: "serves the newest state on later pages",
    fails: ["T3.13"],
    ask: async (ask) => {
      const token = ask.query.get("continue") ?? "";
      if (!isList(ask) || !token.startsWith("eyJ") || decoded(token)["rv"] === "1") return undefined;
      const { metadata } = (await ask.aside(ask.path)) as { readonly metadata: { readonly resourceVersion: string } };
      ask.query.set("continue", encoded({ ...decoded(token), rv: metadata.resourceVersion }));
      return undefined;
    },
  },
];

function isLaterPage(ask: Ask): boolean {
  return isList(ask) && ask.query.has("continue");
}

function itemsOf(list: JsonObject): readonly unknown[] {
  return list["items"] as readonly unknown[];
}

function miscounted(list: JsonObject): JsonObject {
  const { remainingItemCount: count } = (list["metadata"] ?? {}) as { readonly remainingItemCount?: number };
  return count === undefined ? list : withMetadata(list, { remainingItemCount: count + 1 });
}

function decoded(token: string): JsonObject {
  return JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as JsonObject;
}

function encoded(token: JsonObject): string {
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

// Shards of a forwarded kind: the upstream may support shard selectors, or ignore them as most API servers do.
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { type Forwarded, forward } from "@virtual-workspaces/forwarding";
import { authenticated, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label, startPlain } from "../_support/plain.ts";
import { HALVES, namesIn, shard } from "../_support/shards.ts";
import { credentialed, MEMOS, Memo, type MemoContent, startHere, startThere } from "./upstream.ts";

const ALL = `${MEMOS}/memos`;
const INITIAL = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const NAMES = Array.from({ length: 16 }, (_, at) => `memo-${String(at).padStart(2, "0")}`);

/** A proxy that records the queries of a client, and drops shard selectors if they are unknown. */
async function startBetween(url: string, isUnknown: boolean) {
  const queries: URLSearchParams[] = [];
  const server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? "", url);
    queries.push(new URLSearchParams(searchParams));
    if (isUnknown) searchParams.delete("shardSelector");
    const { method, headers } = req;
    const onward = request(url + pathname + (searchParams.size > 0 ? `?${searchParams}` : ""), { method, headers });
    onward.on("response", (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 0, answer.headers)));
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    queries,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

for (const isUnknown of [false, true]) {
  describe(`forward() to an upstream that ${isUnknown ? "ignores" : "supports"} shard selectors`, () => {
    async function start() {
      const there = await startThere();
      const memos = there.memos.in("root", "a");
      for (const name of NAMES) memos.set(name, { text: name });
      const between = await startBetween(there.server.url, isUnknown);
      const here = await startHere({ upstream: credentialed(`${between.url}/services/memos`) });
      return {
        ...{ memos, there, here, queries: between.queries, server: here.server },
        half: (which: 0 | 1) => namesIn(memos.list(), which),
        [Symbol.asyncDispose]: async () => {
          for (const one of [here, between, there]) await one[Symbol.asyncDispose]();
        },
      };
    }

    it("lists and watches the objects of each shard; the lists name it there too", async () => {
      await using stage = await start();
      for (const which of [0, 1] as const) {
        const { body } = await stage.server.get(`${ALL}?${shard(HALVES[which])}`);
        const names = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
        expect(names).to.deep.equal(stage.half(which));
        expect(body.metadata.shardInfo).to.deep.equal({ selector: HALVES[which] });
        expect(stage.queries.at(-1)?.get("shardSelector")).to.equal(HALVES[which]);
      }
      const { body: all } = await stage.server.get(ALL);
      expect(all.items).to.have.length(NAMES.length);
      expect(stage.queries.at(-1)?.has("shardSelector")).to.equal(false);
    });

    it("pages through a shard, with pages of fewer objects than the limit", async () => {
      await using stage = await start();
      const seen: string[] = [];
      let token = "";
      do {
        const { body } = await stage.server.get(`${ALL}?limit=3&continue=${token}&${shard(HALVES[0])}`);
        expect(body.items).to.have.length.below(4);
        expect(body.metadata).to.not.have.property("remainingItemCount");
        for (const { metadata } of body.items) seen.push(metadata.name);
        token = body.metadata.continue ?? "";
      } while (token !== "");
      expect(seen).to.deep.equal(stage.half(0));
    });

    it("shares one upstream watch of all objects between the watches of two shards", async () => {
      await using stage = await start();
      const watches = await Promise.all(HALVES.map((half) => stage.server.watch(`${ALL}?${INITIAL}&${shard(half)}`)));
      await using stack = new AsyncDisposableStack();
      for (const [which, watch] of watches.entries()) {
        stack.use(watch);
        const events = await watch.until(({ type }) => type === "BOOKMARK");
        expect(events.slice(0, -1).map(label)).to.deep.equal(stage.half(which as 0 | 1).map((name) => `ADDED ${name}`));
      }
      for (const name of NAMES) stage.memos.set(name, { text: "changed" });
      for (const name of NAMES) stage.memos.delete(name);
      const both = await Promise.all(watches.map((watch) => watch.until(({ type }) => type === "DELETED")));
      for (const [which, seen] of both.entries()) {
        const [first = ""] = seen.map(({ object }) => object.metadata.name ?? "");
        expect(seen.at(-1)?.object.metadata.name).to.equal(first);
        expect(
          namesIn(
            seen.map(({ object }) => object),
            which as 0 | 1,
          ),
        ).to.have.length(seen.length);
      }
      const asked = stage.queries.filter((query) => query.get("watch") === "true" || query.get("watch") === "1");
      expect(asked).to.have.length(1);
      expect(asked[0]?.has("shardSelector")).to.equal(false);
    });

    it("deletes the objects of one shard, one by one", async () => {
      await using stage = await start();
      const kept = stage.half(1);
      const { status, body } = await stage.server.send(`DELETE ${MEMOS}/namespaces/a/memos?${shard(HALVES[0])}`);
      expect([status, body.items.length]).to.deep.equal([200, NAMES.length - kept.length]);
      expect(stage.memos.list().map(({ metadata }) => metadata.name)).to.deep.equal(kept);
      expect(stage.there.asked.map(({ verb }) => verb)).to.not.include("deletecollection");
    });
  });
}

describe("forward() with a transform", () => {
  it("lists the shard of the shown objects", async () => {
    await using there = await startThere();
    const memos = there.memos.in("root", "a");
    for (const name of NAMES) memos.set(name, { text: name });
    const shown: Forwarded<MemoContent> = forward<MemoContent>({
      resource: Memo,
      upstream: there.upstream,
      transform: { show: (memo) => ({ ...memo, spec: { text: "shown" } }) },
    });
    const view = defineVirtualWorkspace({
      name: "memos",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [Memo.serve(shown)],
    });
    await using server = await startPlain([view]);
    const { body } = await server.get(`${ALL}?${shard(HALVES[1])}`);
    expect(body.items.map(({ spec }: { spec: object }) => spec)).to.deep.equal(
      namesIn(memos.list(), 1).map(() => ({ text: "shown" })),
    );
    await shown[Symbol.asyncDispose]();
  });
});

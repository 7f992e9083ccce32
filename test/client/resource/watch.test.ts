import { INITIAL_EVENTS_END } from "@virtual-workspaces/apimachinery/requests";
import { expect } from "chai";
import { answering, listening, note, status } from "../answers.ts";
import { Fleet, startFleets } from "../fleets.ts";
import { apiError, rejected, transportError } from "../thrown.ts";

const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

describe("a watch", () => {
  it("yields existing objects, their end, and then changes", async () => {
    await using at = await startFleets();
    const fleets = at.fleets.in("root", "sea");
    fleets.set("a", { ships: 1 });
    const seen: string[] = [];
    await using watch = at.client.resource(Fleet).in("sea").watch({ sendInitialEvents: true });
    for await (const { type, object } of watch) {
      seen.push(`${type} ${object.metadata.name ?? ""}`.trim());
      if (object.metadata.annotations?.[INITIAL_EVENTS_END] === "true") fleets.set("a", { ships: 2 });
      if (type === "MODIFIED") fleets.delete("a");
      if (type === "DELETED") break;
    }
    expect(seen).to.deep.equal(["ADDED a", "BOOKMARK", "MODIFIED a", "DELETED a"]);
  });

  it("ends at the requested timeout", async () => {
    await using at = await startFleets();
    at.fleets.in("root", "sea").set("a", {});
    const seen: string[] = [];
    await at.client
      .resource(Fleet)
      .watchEach(async ({ type }) => void seen.push(type), { timeoutSeconds: 1, allowWatchBookmarks: false });
    expect(seen).to.deep.equal(["ADDED"]);
  });

  it("throws an ERROR event, and exceptions of the callback", async () => {
    const gone = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      reason: "Expired",
      message: "too old",
      code: 410,
    };
    await using at = await answering([{ body: line("ADDED", JSON.parse(note("a"))) + line("ERROR", gone) }]);
    const watch = at.notes.watch();
    expect((await watch.next()).value?.type).to.equal("ADDED");
    expect((await apiError(watch.next())).status).to.deep.equal(gone);
    const reason = new Error("mine");
    const thrown = at.notes.watchEach(() => {
      throw reason;
    });
    expect(await rejected(thrown)).to.equal(reason);
    await using bare = await answering([{ body: `${status(500).body as string}\n` }]);
    expect((await apiError(bare.notes.watch().next())).message).to.equal("told 500");
  });

  it("rejects invalid events", async () => {
    const lines = [
      "<html>\n",
      "[]\n",
      `${note("a")}\n`,
      line("ADDED", 1),
      line("NEWS", JSON.parse(note("a"))),
      line("ADDED", {}),
    ];
    for (const body of lines) {
      await using at = await answering([{ body }]);
      expect((await transportError(at.notes.watch().next())).code, body).to.equal("malformed");
    }
  });

  for (const way of ["the signal", "the end of the loop", "return, while it waits"] as const)
    it(`frees its connection by ${way}`, async () => {
      const closed = Promise.withResolvers<void>();
      await using at = await listening((req, res) => {
        req.socket.once("close", () => closed.resolve());
        res.writeHead(200, { "Content-Type": "application/json" }).write(line("ADDED", JSON.parse(note("a"))));
      });
      const ended = new AbortController();
      const watch = at.notes.watch({ signal: ended.signal });
      await watch.next();
      const reason = new Error("enough");
      if (way === "the end of the loop") await watch.return();
      else {
        const next = Promise.allSettled([watch.next()]);
        if (way === "the signal") ended.abort(reason);
        else await watch.return();
        const [result] = await next;
        expect(result).to.deep.equal(
          way === "the signal"
            ? { status: "rejected", reason }
            : { status: "fulfilled", value: { done: true, value: undefined } },
        );
      }
      await closed.promise;
      expect((await watch.next()).done).to.equal(true);
    });

  it("sends no request if it ends before it begins", async () => {
    await using at = await answering([{ body: "" }]);
    const reason = new Error("never mind");
    expect(await rejected(at.notes.watch({ signal: AbortSignal.abort(reason) }).next())).to.equal(reason);
    expect(at.asked).to.have.length(0);
  });

  it("fails after a silence", async () => {
    await using at = await listening((_req, res) => res.writeHead(200).write("\n"));
    expect((await transportError(at.notes.watch({ idle: 300 }).next())).code).to.equal("timeout");
  });
});

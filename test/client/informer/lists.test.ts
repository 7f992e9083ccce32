// Lists of informers: by watch if the server supports that, else in pages, and never partially.
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { type Answering, added, bookmark, expired, modified, Scripted, status } from "./scripted.ts";
import { Watched } from "./support.ts";

const WAIT = { initialDeadline: 200 } as const;

/** Answers correctly from here on: `a` at version 10. */
function well(way: string, answer: Answering): void {
  if (way === "list") answer.list("10", { a: "10" });
  else if (way === "watchList") answer.events(added("a", "10"), bookmark("10", true));
  else answer.events();
}

describe("a list by watch", () => {
  it("is published at its bookmark in one step, in any order of events, with the bookmark's version", async () => {
    let answer: Answering | undefined;
    await using server = await Scripted.start(({ way }, answering) => {
      answer = answering;
      if (way === "watchList") answering.events(added("b", "9"), added("a", "3"), bookmark("5"), modified("a", "7"));
      else answering.events();
    });
    await using watched = new Watched(server.port, { renewEvery: 1 });
    watched.informer.start();
    await watched.until(() => watched.told.includes("connected"));
    await until(() => watched.informer.metrics.bytes >= 300);
    expect([watched.events.length, watched.informer.store.size]).to.deep.equal([0, 0]);
    answer?.events(added("gone", "8"), { ...added("gone", "11"), type: "DELETED" }, bookmark("12", true));
    await watched.informer.synced;
    expect(watched.labels).to.deep.equal(["added b", "added a"]);
    expect([...watched.versions()]).to.deep.equal([
      ["a", "7"],
      ["b", "9"],
    ]);
    const [first] = server.asked;
    expect(Object.fromEntries(first?.query ?? [])).to.include({
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true",
    });
    expect(first?.query.has("resourceVersion")).to.equal(false);
    // It is renewed like any watch, from the bookmark.
    await until(() => server.count("watch") !== 0);
    expect(server.asked.at(-1)?.query.get("resourceVersion")).to.equal("12");
    expect(server.asked.at(-1)?.query.get("timeoutSeconds")).to.equal("1");
    expect(watched.told).to.deep.equal(["connected", "synced"]);
  });

  for (const code of [400, 405, 422, 501])
    it(`is not attempted again after ${code}`, async () => {
      await using server = await Scripted.start(({ way, nth }, answer) => {
        if (way === "watchList") answer.status(code, "Invalid");
        else if (way === "watch" && nth === 0) answer.events(expired).end();
        else well(way, answer);
      });
      await using watched = await Watched.synced(server.port);
      await watched.until(() => watched.told.includes("relisted"));
      expect(server.asked.map(({ way }) => way).slice(0, 4)).to.deep.equal(["watchList", "list", "watch", "list"]);
      expect(watched.labels).to.deep.equal(["added a"]);
      expect(watched.told.filter((type) => type === "fallback")).to.have.length(1);
    });

  it("falls back to pages after a while if the server does not know it", async () => {
    // Older servers send the objects, then changes, and no bookmark.
    let on = true;
    await using server = await Scripted.start(({ way }, answer) => {
      if (way !== "watchList") return well(way, answer);
      answer.events(added("a", "10"));
      let version = 10;
      const timer = setInterval(() => {
        if (on) answer.events(modified("a", String(++version)));
        else clearInterval(timer);
      }, 20);
    });
    await using watched = await Watched.synced(server.port, WAIT);
    on = false;
    expect(server.asked.map(({ way }) => way).slice(0, 2)).to.deep.equal(["watchList", "list"]);
    expect(watched.labels).to.deep.equal(["added a"]);
    const fallback = watched.lifecycle.find(({ type }) => type === "fallback");
    expect(fallback?.type === "fallback" && fallback.cause.message).to.equal(
      "a list by watch sent nothing new for 200 ms",
    );
  });

  it("deletes nothing if it ends before its bookmark or stalls, and is attempted again", async () => {
    const lists: (readonly unknown[])[] = [[], [added("b", "20")], []];
    await using server = await Scripted.start(({ way, nth }, answer) => {
      if (way === "watchList" && nth === 0)
        answer.events(added("a", "10"), added("b", "10"), bookmark("10", true), expired).end();
      else if (way === "watchList" && nth <= 2) {
        answer.events(...(lists[nth] ?? []));
        if (nth === 1) answer.end();
      } else if (way === "watchList") answer.events(added("b", "30"), bookmark("30", true));
      else if (way === "list") answer.list(nth === 0 ? "20" : "25", { a: "10", b: "10" });
      else answer.events(expired).end();
    });
    await using watched = await Watched.synced(server.port, WAIT);
    await watched.until(() => watched.labels.includes("deleted a"));
    expect(watched.labels).to.deep.equal(["added a", "added b", "updated b", "deleted a"]);
    expect(watched.told.filter((type) => type === "fallback")).to.have.length(2);
    expect(server.asked.map(({ way }) => way).slice(0, 8)).to.deep.equal([
      "watchList",
      "watchList",
      "list",
      "watch",
      "watchList",
      "list",
      "watch",
      "watchList",
    ]);
  });
});

describe("a list in pages", () => {
  it("is published when complete; after 410 it starts again, the second time as one request", async () => {
    await using server = await Scripted.start(({ way, query, nth }, answer) => {
      if (way === "watchList") answer.status(422, "Invalid");
      else if (way === "watch") answer.events();
      else if (query.get("continue") !== null) answer.status(410, "Expired");
      else if (query.get("limit") === null) answer.list("12", { a: "1", c: "12" });
      else answer.list("10", { a: "1", b: "2" }, { continue: `token-${nth}` });
    });
    await using watched = await Watched.synced(server.port, { pageSize: 2 });
    expect(watched.labels).to.deep.equal(["added a", "added c"]);
    expect(server.count("list")).to.equal(5);
    expect(watched.informer.metrics).to.include({ expired: 2, relists: 0 });
    await watched.until(() => watched.informer.connected);
    expect(server.asked.at(-1)?.query.get("resourceVersion")).to.equal("12");
  });

  it("joins its pages", async () => {
    await using server = await Scripted.start(({ way, query }, answer) => {
      if (way === "watchList") answer.status(400, "BadRequest");
      else if (way === "watch") answer.events();
      else if (query.get("continue") === null) answer.list("10", { a: "1" }, { continue: "more" });
      else answer.list("10", { b: "2" });
    });
    await using watched = await Watched.synced(server.port, { labels: "x=y", pageSize: 1 });
    expect(watched.labels).to.deep.equal(["added a", "added b"]);
    expect(server.asked.every(({ query }) => query.get("labelSelector") === "x=y")).to.equal(true);
  });

  const lies: Readonly<Record<string, object>> = {
    "of another kind": { apiVersion: "v1", kind: "PodList", metadata: { resourceVersion: "20" }, items: [] },
    "without a version": { apiVersion: "test.dev/v1", kind: "NoteList", metadata: {}, items: [] },
    "without items": { apiVersion: "test.dev/v1", kind: "NoteList", metadata: { resourceVersion: "20" } },
    "with an older version": {
      apiVersion: "test.dev/v1",
      kind: "NoteList",
      metadata: { resourceVersion: "9" },
      items: [],
    },
    "that is a Status": status(200, "Success"),
    "with an object of another kind": {
      apiVersion: "test.dev/v1",
      kind: "NoteList",
      metadata: { resourceVersion: "20" },
      items: [{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", resourceVersion: "20" } }],
    },
  };
  for (const [which, lie] of Object.entries(lies))
    it(`${which} deletes nothing`, async () => {
      await using server = await Scripted.start(({ way, nth }, answer) => {
        if (way === "watchList") answer.status(422, "Invalid");
        else if (way === "watch" && nth === 0) answer.events(expired).end();
        else if (way === "list" && nth > 0 && nth < 4) answer.json(lie);
        else well(way, answer);
      });
      await using watched = await Watched.synced(server.port);
      await watched.until(() => watched.told.includes("relisted"));
      expect(watched.labels).to.deep.equal(["added a"]);
      expect(watched.informer.metrics.errors).to.equal(3);
    });

  it("is accepted at an older version if that persists, as of a restored or replaced server", async () => {
    await using server = await Scripted.start(({ way, nth }, answer) => {
      if (way === "watchList") answer.status(422, "Invalid");
      else if (way === "watch") answer.events(...(nth === 0 ? [bookmark("9")] : []));
      else answer.list(nth === 0 ? "10" : "9", nth === 0 ? { a: "10" } : { b: "9" });
    });
    await using watched = await Watched.synced(server.port, { rewindAfter: 100 });
    await watched.until(() => watched.told.includes("relisted"));
    expect(watched.labels).to.deep.equal(["added a", "added b", "deleted a"]);
    expect(watched.lifecycle.find(({ type }) => type === "relisted")).to.deep.equal({
      type: "relisted",
      reason: "rewound",
    });
    expect(watched.informer.metrics.errors).to.be.above(2);
  });
});

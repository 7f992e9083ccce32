import { expect } from "chai";
import { type Engine, everything, put, refused, Subject, shown, thrown } from "./subject.ts";

export function describeTransactions(engine: Engine): void {
  describe("transactions", () => {
    const subject = Subject.for(engine);

    it("are committed if every condition holds", async () => {
      const a = await subject.put("a", "1");
      const outcome = await subject.commit({
        conditions: [
          { key: "a", modRevision: a },
          { key: "b", modRevision: 0 },
        ],
        operations: [put("b", "1")],
      });
      expect(outcome).to.deep.equal({ committed: true, revision: a + 1 });
      expect(await subject.list()).to.deep.equal(["a=1", "b=1"]);
    });

    it("are rejected if a condition fails, and return the current entries", async () => {
      const a = await subject.put("a", "1");
      const b = await subject.put("b", "1");
      const outcome = await subject.commit({
        conditions: [
          { key: "b", modRevision: a },
          { key: "none", modRevision: 0 },
          { key: "a", modRevision: a },
        ],
        operations: [put("a", "2"), { type: "delete", key: "b" }],
      });
      if (outcome.committed) expect.fail("it was done");
      expect(outcome.revision).to.equal(b);
      expect(outcome.current.map(shown)).to.deep.equal([
        { key: "b", value: "1", createRevision: b, modRevision: b },
        undefined,
        { key: "a", value: "1", createRevision: a, modRevision: a },
      ]);
      expect(await subject.list()).to.deep.equal(["a=1", "b=1"]);
      expect(await subject.store.head()).to.equal(b);
    });

    it("create a key only if it does not exist, also after its deletion", async () => {
      const create = () =>
        subject.commit({ conditions: [{ key: "a", modRevision: 0 }], operations: [put("a", "new")] });
      expect((await create()).committed).to.equal(true);
      expect((await create()).committed).to.equal(false);
      await subject.delete("a");
      expect((await create()).committed).to.equal(true);
    });

    it("distinguish a key's revision from one before its deletion", async () => {
      const first = await subject.put("a", "1");
      await subject.delete("a");
      const gone = await subject.commit({
        conditions: [{ key: "a", modRevision: first }],
        operations: [put("a", "2")],
      });
      expect(gone).to.deep.include({ committed: false, current: [undefined] });
      const second = await subject.put("a", "1");
      const again = await subject.commit({
        conditions: [{ key: "a", modRevision: first }],
        operations: [put("a", "2")],
      });
      if (again.committed) expect.fail("it was done");
      expect(again.current[0]?.modRevision).to.equal(second);
    });

    it("may have conditions on other keys, and none on the written ones", async () => {
      const a = await subject.put("a", "1");
      await subject.put("b", "1");
      const outcome = await subject.commit({ conditions: [{ key: "a", modRevision: a }], operations: [put("b", "2")] });
      expect(outcome.committed).to.equal(true);
      expect(await subject.list()).to.deep.equal(["a=1", "b=2"]);
    });

    it("apply all operations at one revision", async () => {
      const old = await subject.put("c", "1");
      const revision = await subject.done(put("a", "1"), put("b", "1"), { type: "delete", key: "c" }, put("d", "1"));
      expect(revision).to.equal(old + 1);
      const { entries } = await subject.store.range(everything);
      expect(entries.map(shown)).to.deep.equal(
        ["a", "b", "d"].map((key) => ({ key, value: "1", createRevision: revision, modRevision: revision })),
      );
      expect(await subject.list(everything, old)).to.deep.equal(["c=1"]);
    });

    it("create no revision if they change nothing", async () => {
      const head = await subject.put("a", "1");
      const absent = { type: "delete", key: "absent" } as const;
      expect(await subject.done(absent)).to.equal(head);
      expect(await subject.done(), "no operation").to.equal(head);
      const checked = await subject.commit({ conditions: [{ key: "a", modRevision: head }], operations: [] });
      expect(checked).to.deep.equal({ committed: true, revision: head });
      const missed = await subject.commit({ conditions: [{ key: "a", modRevision: 0 }], operations: [] });
      expect(missed).to.deep.include({ committed: false, revision: head });
      expect(await subject.store.head()).to.equal(head);
      expect(await subject.done(absent, put("b", "1")), "a change beside it").to.equal(head + 1);
    });

    it("create a revision if they put the existing value", async () => {
      const head = await subject.put("a", "1");
      expect(await subject.put("a", "1")).to.equal(head + 1);
      expect(await subject.at("a")).to.deep.equal({
        key: "a",
        value: "1",
        createRevision: head,
        modRevision: head + 1,
      });
    });

    it("accept 128 operations", async () => {
      const head = await subject.store.head();
      const keys = Array.from({ length: 128 }, (_, index) => `k${String(index).padStart(3, "0")}`);
      expect(await subject.done(...keys.map((key) => put(key, "v")))).to.equal(head + 1);
      expect(await subject.list()).to.deep.equal(keys.map((key) => `${key}=v`));
    });

    it("lose none of 64 concurrent increments", async () => {
      await subject.put("counter", "0");
      await Promise.all(
        Array.from({ length: 64 }, async () => {
          let entry = await subject.store.get("counter");
          for (;;) {
            const outcome = await subject.commit({
              conditions: [{ key: "counter", modRevision: entry?.modRevision ?? 0 }],
              operations: [put("counter", String(Number(entry?.value) + 1))],
            });
            if (outcome.committed) return;
            [entry] = outcome.current;
          }
        }),
      );
      expect((await subject.at("counter"))?.value).to.equal("64");
    }).timeout(60_000);

    it("get consecutive revisions of their own when concurrent", async () => {
      const head = await subject.store.head();
      const revisions = await Promise.all(Array.from({ length: 200 }, (_, index) => subject.put(`k${index}`, "v")));
      expect(revisions.toSorted((a, b) => a - b)).to.deep.equal(
        Array.from({ length: 200 }, (_, index) => head + 1 + index),
      );
      for (const [index, revision] of revisions.entries())
        expect((await subject.store.get(`k${index}`))?.modRevision).to.equal(revision);
    });

    it("let one of many concurrent creates of a key succeed", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 32 }, (_, index) =>
          subject.commit({ conditions: [{ key: "a", modRevision: 0 }], operations: [put("a", String(index))] }),
        ),
      );
      const done = outcomes.findIndex(({ committed }) => committed);
      expect(outcomes.filter(({ committed }) => committed)).to.have.length(1);
      const winner = await subject.at("a");
      expect(winner?.value).to.equal(String(done));
      for (const outcome of outcomes)
        if (!outcome.committed) expect(outcome.current.map((entry) => entry && shown(entry))).to.deep.equal([winner]);
    });

    it("are not committed if their signal has aborted", async () => {
      const reason = new Error("given up");
      const given = () =>
        subject.store.commit({ conditions: [], operations: [put("a", "1")] }, { signal: AbortSignal.abort(reason) });
      expect(await thrown(given)).to.equal(reason);
      expect(await subject.at("a")).to.equal(undefined);
    });

    it("are invalid with a duplicate, empty or malformed key", async () => {
      const head = await subject.put("a", "1");
      await refused("Invalid", () => subject.done(put("a", "2"), put("a", "3")));
      await refused("Invalid", () => subject.done({ type: "delete", key: "a" }, put("a", "3")));
      await refused("Invalid", () => subject.done(put("", "2")));
      await refused("Invalid", () => subject.done({ type: "delete", key: "" }));
      await refused("Invalid", () => subject.done(put("a\uD800", "2")));
      await refused("Invalid", () => subject.commit({ conditions: [{ key: "", modRevision: 0 }], operations: [] }));
      await refused("Invalid", () => subject.commit({ conditions: [{ key: "a", modRevision: -1 }], operations: [] }));
      expect(await subject.store.head()).to.equal(head);
      expect(await subject.list()).to.deep.equal(["a=1"]);
    });
  });
}

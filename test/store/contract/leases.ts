import { setTimeout } from "node:timers/promises";
import { isStoreError, type Lease } from "@virtual-workspaces/store";
import { expect } from "chai";
import { type Engine, everything, put, refused, Subject } from "./subject.ts";

/** Time within which a lease of 1 s expires in every engine, in ms. */
const PATIENCE = 30_000;

export function describeLeases(engine: Engine): void {
  describe("leases", function () {
    this.timeout(PATIENCE);
    const subject = Subject.for(engine);

    /** Resolves when a lease has expired. */
    async function over({ id }: Lease): Promise<void> {
      for (;;) {
        try {
          await setTimeout(Math.max(20, 500 * (await subject.store.remaining(id))));
        } catch (error) {
          if (isStoreError(error) && error.code === "LeaseNotFound") return;
          throw error;
        }
      }
    }

    it("have unique ids and at least the requested time", async () => {
      const leases = await Promise.all([1, 1, 5, 3600, 10_000_000].map((ttl) => subject.store.grant(ttl)));
      expect(new Set(leases.map(({ id }) => id)).size).to.equal(5);
      for (const { id } of leases) expect(id).to.match(/^[1-9][0-9]*$/);
      for (const [index, ttl] of [1, 1, 5, 3600, 10_000_000].entries()) {
        const lease = leases[index] ?? expect.fail("too few");
        expect(lease.ttl).to.be.at.least(ttl);
        expect(await subject.store.remaining(lease.id)).to.be.within(0, lease.ttl);
      }
      for (const lease of leases) await subject.store.revoke(lease);
    });

    it("last for at least a second", async () => {
      for (const ttl of [0, 0.5, -1, Number.NaN, Number.POSITIVE_INFINITY])
        await refused("Invalid", () => subject.store.grant(ttl));
    });

    it("delete their keys when they expire, with events", async () => {
      const lease = await subject.store.grant(1);
      const begun = performance.now();
      await subject.done(put("a", "1", lease), put("b", "1", lease), put("c", "1"));
      const base = await subject.put("d", "1", lease);
      expect((await subject.store.get("a"))?.lease).to.equal(lease.id);
      expect((await subject.store.range(everything)).entries.map((entry) => entry.lease)).to.deep.equal([
        lease.id,
        lease.id,
        undefined,
        lease.id,
      ]);
      const reader = await subject.watch(everything, { previous: true });
      const gone: string[] = [];
      while (gone.length < 3)
        for (const { key, entry, previous } of (await reader.next()).events) {
          expect(entry).to.equal(undefined);
          expect(previous?.lease).to.equal(lease.id);
          gone.push(key);
        }
      expect(gone.sort()).to.deep.equal(["a", "b", "d"]);
      expect(performance.now() - begun, "not before their time, ms").to.be.at.least(900);
      expect(await subject.list()).to.deep.equal(["c=1"]);
      expect(await subject.list(everything, base)).to.deep.equal(["a=1", "b=1", "c=1", "d=1"]);
      await reader.leave();
    });

    it("release a key that is put without them, with another one, or deleted", async () => {
      const [lease, other] = [await subject.store.grant(60), await subject.store.grant(60)];
      await subject.done(...["bare", "gone", "kept", "moved"].map((key) => put(key, "1", lease)));
      await subject.done(put("bare", "2"), put("moved", "2", other), { type: "delete", key: "gone" });
      await subject.put("gone", "2");
      expect((await subject.store.get("bare"))?.lease).to.equal(undefined);
      expect((await subject.store.get("moved"))?.lease).to.equal(other.id);
      await subject.store.revoke(lease);
      expect(await subject.list()).to.deep.equal(["bare=2", "gone=2", "moved=2"]);
      await subject.store.revoke(other);
      expect(await subject.list()).to.deep.equal(["bare=2", "gone=2"]);
    });

    it("delete their keys when revoked, once", async () => {
      const lease = await subject.store.grant(60);
      const base = await subject.done(put("a", "1", lease), put("b", "1"));
      const reader = await subject.watch();
      await subject.store.revoke(lease);
      expect(await subject.list()).to.deep.equal(["b=1"]);
      expect((await reader.next()).events).to.deep.equal([{ key: "a", entry: undefined, previous: undefined }]);
      expect(await subject.store.head()).to.equal(base + 1);
      await refused("LeaseNotFound", () => subject.store.revoke(lease));
      await reader.leave();
    });

    it("without keys change nothing when revoked", async () => {
      const head = await subject.put("a", "1");
      await subject.store.revoke(await subject.store.grant(60));
      expect(await subject.store.head()).to.equal(head);
    });

    it("are unknown after they expire", async () => {
      const never: Lease = { id: "987654321987", ttl: 60 };
      const ended = await subject.store.grant(1);
      await over(ended);
      const head = await subject.put("a", "1");
      for (const lease of [never, ended]) {
        await refused("LeaseNotFound", () => subject.done(put("b", "1"), put("a", "2", lease)));
        await refused("LeaseNotFound", () => subject.store.renew(lease));
        await refused("LeaseNotFound", () => subject.store.revoke(lease));
        await refused("LeaseNotFound", () => subject.store.remaining(lease.id));
      }
      expect(await subject.list()).to.deep.equal(["a=1"]);
      expect(await subject.store.head()).to.equal(head);
    });

    it("restart when renewed", async () => {
      const renewed = await subject.store.grant(1);
      const ending = await subject.store.grant(1);
      await subject.done(put("renewed", "1", renewed), put("ending", "1", ending));
      const reader = await subject.watch();
      const gone = reader.next();
      const ended = gone.then(() => true);
      while (!(await Promise.race([ended, setTimeout(50, false)])))
        expect(await subject.store.renew(renewed)).to.deep.equal(renewed);
      expect((await gone).events.map(({ key }) => key)).to.deep.equal(["ending"]);
      expect(await subject.list()).to.deep.equal(["renewed=1"]);
      expect((await reader.next()).events.map(({ key }) => key)).to.deep.equal(["renewed"]);
      await reader.leave();
    });

    it("do not hold a key of a rejected transaction", async () => {
      const lease = await subject.store.grant(60);
      await subject.put("a", "1");
      await subject.commit({ conditions: [{ key: "a", modRevision: 0 }], operations: [put("a", "2", lease)] });
      await subject.store.revoke(lease);
      expect(await subject.list()).to.deep.equal(["a=1"]);
    });

    it("delete more than 128 keys", async () => {
      const lease = await subject.store.grant(60);
      for (let part = 0; part < 4; part++)
        await subject.done(...Array.from({ length: 100 }, (_, index) => put(`${part}/${index}`, "1", lease)));
      await subject.store.revoke(lease);
      expect(await subject.list()).to.deep.equal([]);
    });

    it("with very many keys expire before their first key is deleted", async () => {
      const lease = await subject.store.grant(60);
      for (let part = 0; part < 12; part++)
        await subject.done(...Array.from({ length: 100 }, (_, index) => put(`${part}/${index}`, "1", lease)));
      const reader = await subject.watch();
      const revoked = subject.store.revoke(lease);
      await reader.next();
      await Promise.all([
        refused("LeaseNotFound", () => subject.store.renew(lease)),
        refused("LeaseNotFound", () => subject.store.remaining(lease.id)),
        refused("LeaseNotFound", () => subject.put("late", "1", lease)),
        refused("LeaseNotFound", () => subject.store.revoke(lease)),
      ]);
      await revoked;
      expect(await subject.list()).to.deep.equal([]);
      await reader.leave();
    });
  });
}

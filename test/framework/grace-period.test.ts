// Kinds whose objects get time for their termination, as pods do.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { MERGE } from "../_support/patches.ts";
import { startPlain } from "../_support/plain.ts";

const Job = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Job",
  scope: "Cluster",
  spec: { type: "object", properties: { n: { type: "integer" } } },
  gracePeriodSeconds: 30,
});
const JOBS = "/services/jobs/apis/example.dev/v1/jobs";

async function start() {
  const jobs = Job.collection();
  const server = await startPlain([
    defineVirtualWorkspace({ name: "jobs", path: "/", authorize: () => allow(), resources: [Job.serve(jobs)] }),
  ]);
  return { server, jobs: jobs.in("") };
}

/** Seconds from now until a time, rounded. */
const left = (time: string): number => Math.round((Date.parse(time) - Date.now()) / 1000);

describe("objects of a kind with a grace period", () => {
  it("are marked with their deletion time: by the kind's period, or the client's", async () => {
    const { server, jobs } = await start();
    await using _ = server;
    const asked = [
      { body: undefined, seconds: 30 },
      { body: { gracePeriodSeconds: 5 }, seconds: 5 },
      { body: { gracePeriodSeconds: 90 }, seconds: 90 },
      { body: { gracePeriodSeconds: -1 }, seconds: 1 },
    ];
    for (const [at, { body, seconds }] of asked.entries()) {
      jobs.set(`j${at}`, { n: at });
      const { status, body: job } = await server.send(`DELETE ${JOBS}/j${at}`, body);
      const { deletionTimestamp, deletionGracePeriodSeconds, generation } = job.metadata;
      expect([status, deletionGracePeriodSeconds, generation]).to.deep.equal([200, seconds, 2]);
      expect(left(deletionTimestamp)).to.be.within(seconds - 2, seconds);
    }
    expect(jobs.list()).to.have.length(4);
  });

  it("have a period limited to representable times", async () => {
    const { server, jobs } = await start();
    await using _ = server;
    for (const gracePeriodSeconds of [2.6e11, Number.MAX_SAFE_INTEGER]) {
      jobs.set("a", {});
      const { status, body } = await server.send(`DELETE ${JOBS}/a`, { gracePeriodSeconds });
      expect([status, body.metadata.deletionTimestamp]).to.deep.equal([200, "9999-12-31T23:59:59Z"]);
      expect((await server.send(`DELETE ${JOBS}/a`, { gracePeriodSeconds: 0 })).status).to.equal(200);
    }
  });

  it("can be deleted sooner, never later, and at once with a period of 0", async () => {
    const { server, jobs } = await start();
    await using _ = server;
    jobs.set("a", {});
    await using watch = await server.watch(`${JOBS}?watch=true`);
    const remove = async (gracePeriodSeconds?: number) =>
      (await server.send(`DELETE ${JOBS}/a`, gracePeriodSeconds === undefined ? undefined : { gracePeriodSeconds }))
        .body;
    const first = await remove();
    for (const later of [undefined, 30, 60]) expect(await remove(later)).to.deep.equal(first);
    const sooner = await remove(10);
    expect(sooner.metadata.deletionGracePeriodSeconds).to.equal(10);
    const earlier = Date.parse(first.metadata.deletionTimestamp) - Date.parse(sooner.metadata.deletionTimestamp);
    expect(earlier).to.equal(20_000);
    expect((await remove(0)).status).to.equal("Success");
    expect(await watch.take(4)).to.deep.equal(["ADDED a", "MODIFIED a", "MODIFIED a", "DELETED a"]);
    expect(jobs.list()).to.deep.equal([]);
  });

  it("can be updated meanwhile, and keep the deletion time", async () => {
    const { server, jobs } = await start();
    await using _ = server;
    jobs.set("a", { n: 1 });
    const { body: marked } = await server.send(`DELETE ${JOBS}/a`);
    const { deletionTimestamp } = marked.metadata;
    const later = { metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null }, spec: { n: 2 } };
    const { status, body } = await server.send(`PATCH ${JOBS}/a`, later, MERGE);
    expect([status, body.spec.n, body.metadata.deletionTimestamp]).to.deep.equal([200, 2, deletionTimestamp]);
    expect(body.metadata.deletionGracePeriodSeconds).to.equal(30);
    const longer = await server.send(`PATCH ${JOBS}/a`, { metadata: { deletionGracePeriodSeconds: 300 } }, MERGE);
    expect([longer.status, longer.body.message]).to.deep.equal([
      422,
      'Job.example.dev "a" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 300: field is immutable',
    ]);
  });

  it("wait for their finalizers too, even after a period of 0", async () => {
    const { server, jobs } = await start();
    await using _ = server;
    jobs.set("a", {});
    const hold = { metadata: { finalizers: ["example.dev/held"] } };
    const free = { metadata: { finalizers: null } };
    await server.send(`PATCH ${JOBS}/a`, hold, MERGE);
    await server.send(`DELETE ${JOBS}/a`);
    await server.send(`PATCH ${JOBS}/a`, free, MERGE);
    expect(jobs.get("a")?.metadata.deletionGracePeriodSeconds).to.equal(30);
    expect((await server.send(`PATCH ${JOBS}/a`, hold, MERGE)).body.message).to.contain(
      "no new finalizers can be added",
    );
    await server.send(`DELETE ${JOBS}/a`, { gracePeriodSeconds: 0 });
    expect(jobs.list()).to.deep.equal([]);
    jobs.set("b", {});
    await server.send(`PATCH ${JOBS}/b`, hold, MERGE);
    const { body } = await server.send(`DELETE ${JOBS}/b`, { gracePeriodSeconds: 0 });
    expect(body.metadata.deletionGracePeriodSeconds).to.equal(0);
    await server.send(`PATCH ${JOBS}/b`, free, MERGE);
    expect(jobs.list()).to.deep.equal([]);
  });

  it("can be marked and removed by their author; dry runs do neither, deletecollection marks all", async () => {
    const { server, jobs } = await start();
    await using _ = server;
    jobs.set("a", {});
    const dry = await server.send(`DELETE ${JOBS}/a?dryRun=All`);
    expect(dry.body.metadata).to.have.property("deletionTimestamp");
    expect(jobs.get("a")?.metadata).not.to.have.property("deletionTimestamp");
    expect([jobs.delete("a"), jobs.delete("a"), jobs.delete("none")]).to.deep.equal([true, true, false]);
    expect(jobs.get("a")?.metadata.deletionGracePeriodSeconds).to.equal(30);
    expect(jobs.delete("a", { gracePeriodSeconds: 0 })).to.equal(true);
    expect(jobs.get("a")).to.equal(undefined);
    for (const name of ["b", "c"]) jobs.set(name, {});
    await server.send(`DELETE ${JOBS}`);
    expect(jobs.list().map(({ metadata }) => metadata.deletionGracePeriodSeconds)).to.deep.equal([30, 30]);
    await server.send(`DELETE ${JOBS}?gracePeriodSeconds=0`);
    expect(jobs.list()).to.deep.equal([]);
  });
});

// `dev --etcd-servers`, the real command over a real etcd: one set of objects served by two processes at once.
import { join } from "node:path";
import { expect } from "chai";
import { Dev } from "../cli/support/dev.ts";
import { create, list, Writers } from "../cli/support/notes.ts";
import { hostedText } from "../cli/support/views.ts";
import { EtcdCluster, etcdThere, versions } from "./support/etcd.ts";
import { builtKubectl, kubectl, startKubectl } from "./support/kubectl.ts";

for (const version of versions)
  describe(`virtual-workspaces dev over etcd ${version}`, function () {
    this.timeout(60_000);
    let etcd: EtcdCluster;
    before(async function () {
      await etcdThere(version).call(this);
      etcd = await EtcdCluster.start({ version });
    });
    after(() => etcd?.[Symbol.asyncDispose]());

    const start = (prefix: string): Promise<Dev> =>
      Dev.start({ files: { "note.ts": hostedText() }, flags: [...flagsOf(etcd), "--etcd-prefix", prefix] });

    it("shows in a watch of one process what kubectl writes through another; either may die", async () => {
      const prefix = etcd.prefix();
      await using one = await start(prefix);
      await using other = await start(prefix);
      expect(one.text).to.include(`Objects are kept in etcd at ${etcd.endpoints.join(", ")}.`);
      await using watch = startKubectl(builtKubectl(), one.home, ["get", "notes", "--watch-only", "-o", "name"]);
      await one.until(/^\S+ WATCH .* begins$/m);
      const file = join(other.folder.path, "milk.json");
      other.save(
        "milk.json",
        JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "milk" }, spec: {} }),
      );
      expect(await kubectl(builtKubectl(), other.home, ["create", "-f", file])).to.include({ code: 0, stderr: "" });
      await watch.until("the write through the other", () => watch.lines.includes("note.test.dev/milk"));
      const { version: before } = await list(one);
      expect((await list(other)).version).to.equal(before);

      await using writers = new Writers(one);
      await writers.more(20);
      await other.end("SIGKILL");
      await writers.more(20);
      const stopped = writers.stop();
      await one.end("SIGKILL");
      await stopped;
      await using third = await start(prefix);
      expect((await list(third)).names).to.include.members(["milk", ...writers.acknowledged]);
    });

    it("reloads without losing or refusing a write", async () => {
      await using dev = await start(etcd.prefix());
      await using writers = new Writers(dev);
      for (const times of [1, 2]) {
        await writers.more(5);
        dev.save("note.ts", hostedText());
        await dev.until(/^Reloaded in/m, times);
      }
      await writers.stop();
      expect([...writers.codes.keys()]).to.deep.equal([201]);
      expect((await list(dev)).names).to.have.members(writers.acknowledged);
    });

    it("keeps prefixes apart", async () => {
      await using one = await start(etcd.prefix());
      await using other = await start(etcd.prefix());
      expect(await create(one, "mine")).to.equal(201);
      expect((await list(other)).names).to.deep.equal([]);
    });
  });

function flagsOf({ endpoints }: EtcdCluster): string[] {
  return ["--port", "0", "--etcd-servers", endpoints.join(",")];
}

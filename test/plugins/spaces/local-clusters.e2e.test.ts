// Spaces of kind and k3d. Stand-ins replace both programs; their clusters are workspace servers.
import { writeFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { MAP } from "./support/management.ts";
import { CALL } from "./support/processes.ts";
import { StandIn } from "./support/stand-in.ts";

const failure = (error: unknown): string => String((error as Error).message);

for (const tool of ["kind", "k3d"] as const)
  describe(`Spaces of ${tool}`, function () {
    this.timeout(90_000);
    const verbs = {
      kind: ["create cluster --name", "delete cluster --name"],
      k3d: ["cluster create", "cluster delete"],
    };
    const [CREATE, DELETE] = verbs[tool];
    const told = (stand: StandIn): readonly string[] =>
      stand.calls
        .map((call) => call.slice(tool.length + 1))
        .filter((call) => call.startsWith(CREATE ?? "") || call.startsWith(DELETE ?? ""))
        .map(
          (call) =>
            `${call.startsWith(CREATE ?? "") ? "create" : "delete"} ${call.split(" ")[tool === "kind" ? 3 : 2]}`,
        );

    it("are created in the background, reached as administrator, discovered, and deleted", async () => {
      await using stand = new StandIn(tool);
      const provider = await stand.open();
      expect(await provider.list()).to.deep.equal([]);
      stand.faults({ hold: "shop" });
      await provider.create("shop");
      await provider.create("shop");
      await stand.appears("shop");
      expect(await provider.list(), "it is none yet").to.deep.equal([]);
      expect(await provider.get("shop")).to.equal(undefined);
      const other = await stand.open();
      const seen = await other.get("shop");
      expect([seen?.phase, seen?.id]).to.deep.equal(["Initializing", undefined]);
      expect(seen?.message).to.match(
        tool === "kind" ? /^kind: failed to get cluster internal kubeconfig: / : /^k3d: failed to get kubeconfig/,
      );
      writeFileSync(stand.path("go"), "");
      const first = await provider.ready("shop");
      expect(first?.id).to.match(/^[0-9a-f]{32}$/);
      expect(await other.ready("shop")).to.deep.equal(first);
      expect(await provider.list()).to.deep.equal([first]);
      await provider.create("shop");
      expect(told(stand)).to.deep.equal(["create shop"]);
      const { external = "", incluster } = await provider.provider.access("shop", CALL);
      expect(JSON.parse(external)).to.have.property("current-context", "shop");
      if (tool === "kind") expect(incluster).to.include("https://shop-control-plane:6443");
      else expect(incluster).to.equal(undefined);
      await using client = await provider.client("shop");
      await client
        .resource(MAP)
        .in("default")
        .create({ metadata: { name: "menu" } });

      process.kill(stand.pid("shop"), "SIGKILL");
      const fell = await provider.until("shop", (space) => space?.phase !== "Ready");
      expect(fell?.message).to.match(/^cannot connect to the server: /);
      expect(fell?.id).to.equal(first?.id);
      await provider.delete("shop");
      expect(await provider.get("shop")).to.equal(undefined);
      await provider.delete("shop");
      await provider.create("shop");
      expect((await provider.ready("shop"))?.id).not.to.equal(first?.id);
    });

    it("are created again after a failure, once the incomplete cluster is deleted", async () => {
      await using stand = new StandIn(tool);
      const provider = await stand.open();
      stand.faults(tool === "kind" ? { "create cluster": "half" } : { "cluster create": "fail" });
      await provider.create("shop");
      let said = "";
      for (; said === ""; await nextTurn()) said = await provider.create("shop").then(() => "", failure);
      if (tool === "kind") expect(said).to.equal("kind: failed to create cluster: failed to init node with kubeadm");
      else expect(said).to.match(/^k3d: no room for that, no room .{0,280}$/);
      expect(stand.clusters.length).to.equal(tool === "kind" ? 1 : 0);
      expect(await provider.list(), "what is half made is no space").to.deep.equal([]);
      stand.faults({});
      for (; (await provider.get("shop")) === undefined; await nextTurn()) await provider.create("shop").catch(failure);
      await provider.ready("shop");
      const calls = told(stand);
      expect(calls.slice(-2)).to.deep.equal(["delete shop", "create shop"]);
      expect(calls.filter((call) => call.startsWith("create")).length).to.equal(
        calls.filter((call) => call.startsWith("delete")).length + 1,
      );
    });

    it("are no longer created after they are deleted or the manager has ended", async () => {
      await using stand = new StandIn(tool);
      stand.faults({ hold: "shop" });
      for (const end of ["deleted", "nobody"]) {
        await using provider = await stand.open();
        await provider.create("shop");
        await stand.appears("shop");
        if (end === "deleted") await provider.delete("shop");
        else await provider[Symbol.asyncDispose]();
        expect(stand.clusters, end).to.deep.equal([]);
      }
      expect(told(stand)).to.deep.equal(["create shop", "delete shop", "create shop", "delete shop"]);
      expect(stand.logged).to.deep.equal([]);
    });

    it("are not reached with a kubeconfig that would run a program", async () => {
      await using stand = new StandIn(tool);
      const provider = await stand.open();
      await provider.create("shop");
      await provider.ready("shop");
      stand.faults({ credential: "exec" });
      const other = await stand.open();
      const seen = await other.get("shop");
      expect(seen?.phase).to.equal("Initializing");
      expect(seen?.message).to.equal(
        "kubeconfig: exec of the user is not allowed in a Secret: remove it, or use --flatten",
      );
      expect(await other.provider.access("shop", CALL).catch(failure)).to.equal(seen?.message);
    });

    it("show an error of the tool in one line", async () => {
      await using stand = new StandIn(tool);
      const asked = tool === "kind" ? "get clusters" : "cluster list";
      const provider = await stand.open();
      const said = async (how: string): Promise<string> => {
        stand.faults({ [asked]: how });
        return provider.list().then(String, failure);
      };
      expect(await said("docker")).to.equal(
        `${tool}: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running? Start Docker, or give the manager's user access to it`,
      );
      expect(await said("fail")).to.match(new RegExp(`^${tool}: no room for that, .{0,284}$`));
      expect(await said("quiet")).to.equal(`${tool}: it ended with exit code 4`);
      expect(await said("rubbish")).to.equal(
        `${tool}: ${asked} did not print a list of clusters: check that this is the right program`,
      );
      expect(await said("flood")).to.equal(`${tool}: output is longer than 4194304 bytes`);
      const missing = await stand.open({ command: `no-such-${tool}` });
      expect(await missing.list().then(String, failure)).to.equal(
        `${tool}: command not found on the PATH of the manager: install ${tool}, or set \`command\``,
      );
      const elsewhere = await stand.open({ command: "/no/such/program" });
      expect(await elsewhere.list().then(String, failure)).to.match(/: \/no\/such\/program does not exist: install /);
      const text = await stand.open({ command: stand.path("faults.json") });
      expect(await text.list().then(String, failure)).to.match(/cannot run .*faults\.json: EACCES$/);
    });
  });

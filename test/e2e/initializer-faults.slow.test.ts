// Faults during the set-up and cleanup of workspaces: examples/initializer.ts is killed between any two steps, runs twice,
// runs beside the controller of another type, and loses its type.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { needsKubectl } from "./support/kubectls.ts";
import { example } from "./support/provided.ts";
import { INITIALIZER, ours, Teams } from "./support/teams.ts";
import { kill } from "./support/teams-played.ts";

const here = (name: string): string => join(import.meta.dirname, "support", name);
const TYPE = "workspacetype.tenancy.kcp.io/team";
/** Writes for a workspace that is set up, and for one that is deleted, each once; the last one is the status. */
const STEPS = { initializing: 4, terminating: 3 };

describe("examples/initializer.ts with faults", function () {
  this.timeout(180_000);
  let teams: Teams;

  before(async function () {
    needsKubectl.call(this);
    teams = await Teams.ready(1);
  });
  after(() => teams?.[Symbol.asyncDispose]());

  /** Runs it until this many writes are done. */
  async function killedAfter(writes: number): Promise<void> {
    const hook = `${pathToFileURL(here("kill-after.fixture.ts"))}?writes=${writes}`;
    await using controller = example(INITIALIZER, `--import=${hook}`)(teams.account);
    expect((await controller.ended).signal, controller.stderr).to.equal("SIGKILL");
  }

  it("continues after a kill at any step", async () => {
    await teams.make("killed", "root");
    for (let steps = 1; steps < STEPS.initializing; steps++) {
      await killedAfter(steps);
      await teams.phase("killed", "Initializing");
    }
    await killedAfter(STEPS.initializing);
    const cluster = await teams.settled("killed");
    await teams.write("killed", "go on");
    await teams.leave("killed");
    for (let steps = 1; steps < STEPS.terminating; steps++) {
      await killedAfter(steps);
      await teams.phase("killed", "Terminating");
    }
    await killedAfter(STEPS.terminating);
    await teams.kept("killed", cluster, "go on");
  });

  it("does no harm when it runs twice, or beside the controller of a type that extends its own", async () => {
    const web = await teams.admin("root", "get", "workspace", "web", "-o", "jsonpath={.spec.cluster}");
    const extend = { with: [{ path: "root:web", name: "team" }] };
    const about = { apiVersion: "tenancy.kcp.io/v1alpha1", metadata: { name: "crew" } };
    await teams.apply("root:web", { ...about, kind: "WorkspaceType", spec: { initializer: true, extend } });
    for (const [name, verbs, subject] of [
      ["crews", ["get", "list", "watch", "initialize"], "--serviceaccount=default:teams"],
      ["crew-use", ["use"], "--user=alice"],
    ] as const) {
      const rules = [{ apiGroups: ["tenancy.kcp.io"], resources: ["workspacetypes"], resourceNames: ["crew"], verbs }];
      const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
      await teams.apply("root:web", role);
      await teams.admin("root:web", "create", "clusterrolebinding", name, `--clusterrole=${name}`, subject);
    }

    await using one = ours(teams.account);
    await using two = ours(teams.account);
    const names = ["a", "b", "c", "d"];
    for (const name of names) await teams.make(name, "root", name === "a" || name === "b" ? "crew" : "team");
    await teams.settled("c");
    // The other controller is done; the workspace waits for an initializer without a controller.
    for (const name of ["a", "b"]) {
      const waits = `--for=jsonpath={.status.initializers[*]}=${web}:crew`;
      expect(await teams.user("org", "wait", "--timeout=30s", `workspace/${name}`, waits)).to.match(/condition met/);
      expect(await teams.show(name, "{.status.phase}")).to.equal("Initializing");
    }
    await using crew = example(here("crew.fixture.ts"))(teams.account);
    const clusters = new Map<string, string>();
    for (const name of names) clusters.set(name, await teams.settled(name));
    expect(await teams.user("org:a", "get", "namespace", "crew", "-o", "name")).to.equal("namespace/crew");
    for (const name of names) {
      await teams.write(name, `motto of ${name}`);
      await teams.leave(name);
    }
    for (const name of names) await teams.kept(name, clusters.get(name) ?? "", `motto of ${name}`);
    for (const controller of [one, two, crew]) {
      controller.signal("SIGTERM");
      expect((await controller.ended).code).to.equal(0);
      expect(controller.stderr).to.equal("");
    }
  });

  it("fails closed without its type, and continues once the type exists again", async () => {
    await teams.make("orphan", "root");
    const cluster = await teams.phase("orphan", "Initializing");
    const [url = ""] = await teams.urls("initializing", 1);
    const type = JSON.parse(await teams.admin("root:web", "get", TYPE, "-o", "json"));
    await teams.admin("root:web", "delete", TYPE);
    await using controller = ours(teams.account);
    const { pathname } = new URL(`${url}/clusters/${cluster}/api/v1/namespaces`);
    const namespace = teams.file({ apiVersion: "v1", kind: "Namespace", metadata: { name: "by-hand" } });
    const refused = await teams.provider(teams.server.url, "create", "--raw", pathname, "-f", namespace);
    expect(refused).to.match(/ServiceUnavailable|cannot be found/);
    await teams.leave("orphan");
    const terminating = ["wait", "logicalcluster/cluster", "--for=jsonpath={.status.phase}=Terminating"];
    await teams.admin(cluster, ...terminating);
    await teams.apply("root:web", {
      apiVersion: type.apiVersion,
      kind: type.kind,
      metadata: { name: "team" },
      spec: type.spec,
    });
    await teams.gone("orphan");
    expect(await teams.admin("root:web", "get", "configmap", `team-${cluster}`, "-o", "name")).to.match(/configmap/);
    await kill(controller);
  });
});

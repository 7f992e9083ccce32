// examples/initializer.ts over a longer time, and with many workspaces: it loses its permissions, and a thousand workspaces
// are created at once (`MANY=200`: fewer).
import { Client, Informer, loadKubeconfig } from "@virtual-workspaces/client";
import { Workspace } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { needsKubectl } from "./support/kubectls.ts";
import { ours, Teams } from "./support/teams.ts";

describe("examples/initializer.ts over a longer time", function () {
  this.timeout(900_000);
  let teams: Teams;

  before(async function () {
    needsKubectl.call(this);
    teams = await Teams.ready(2);
  });
  after(() => teams?.[Symbol.asyncDispose]());

  it("stops when it loses its permissions, and continues when it has them again", async () => {
    await using controller = ours(teams.account);
    await teams.make("before", "root");
    await teams.settled("before");
    await teams.admin("root:web", "delete", "clusterrolebinding", "teams");
    await controller.until("the refusal", () => /forbidden/i.test(controller.stderr), 60_000);
    await teams.make("between", "root");
    const cluster = await teams.phase("between", "Initializing");
    const [url = ""] = await teams.urls("initializing", 2);
    const { pathname } = new URL(`${url}/clusters/${cluster}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`);
    expect(await teams.provider(teams.server.url, "get", "--raw", pathname)).to.match(/forbidden/i);
    const grant = ["clusterrolebinding", "teams", "--clusterrole=teams", "--serviceaccount=default:teams"];
    await teams.admin("root:web", "create", ...grant);
    await teams.settled("between");
  });

  it("sets up a thousand workspaces that are created at once, and cleans up when they are deleted", async () => {
    const all = Number(process.env["MANY"] ?? "1000");
    const many = { many: "yes" };
    const items = Array.from({ length: all }, (_, at) => ({
      ...{ apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: `many-${at}`, labels: many } },
      spec: {
        type: { name: "team", path: "root:web" },
        location: { selector: { matchLabels: { name: at % 2 === 0 ? "root" : "shard-1" } } },
      },
    }));
    await using controller = ours(teams.account);
    await using admin = new Client(await loadKubeconfig({ file: teams.server.path("admin.kubeconfig") }));
    const org = admin.cluster("root:org").resource(Workspace);
    await using workspaces = new Informer({ resource: org, labels: "many=yes" }).start();
    await workspaces.synced;
    const found = (is: (there: readonly Workspace[]) => boolean): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (is(workspaces.store.list())) resolve();
        };
        workspaces.on({ updated: look, deleted: look });
      });
    const set = found((there) => there.length === all && there.every(({ status }) => status?.phase === "Ready"));
    const made = await teams.user("org", "create", "-f", teams.file({ apiVersion: "v1", kind: "List", items }));
    expect(made.split("\n")).to.have.length(all);
    await set;
    for (const at of [0, 1, all - 1]) await teams.settled(`many-${at}`);
    const gone = found((there) => there.length === 0);
    // kubectl would wait for each in turn.
    await teams.user("org", "delete", "workspaces.v1alpha1.tenancy.kcp.io", "-l", "many=yes", "--wait=false");
    await gone;
    const records = await teams.admin("root:web", "get", "configmaps", "-o", "jsonpath={.items[*].data.workspace}");
    expect(records.split(" ").filter((path) => path.startsWith("root:org:many-"))).to.have.length(all);
    controller.signal("SIGTERM");
    expect((await controller.ended).code, controller.stderr).to.equal(0);
  });
});

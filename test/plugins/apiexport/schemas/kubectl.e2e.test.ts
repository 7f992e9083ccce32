// Bound schemas in kubectl: its table, and its watch of their changes.
import { apiResourceSchemaView } from "@virtual-workspaces/apiexport";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { kubeconfigHome, startTls } from "../../../_support/server.ts";
import { kubectls, needsKubectl } from "../../../e2e/support/kubectls.ts";
import { kubectl, startKubectl } from "../../../go/support/kubectl.ts";
import { startWorkspaces } from "../../../workspace-server/support/workspaces.ts";
import { Consumer } from "../support/consumer.ts";
import { Provider } from "../support/provider.ts";

const WIDGETS = "v1.widgets.example.dev";

describe("kubectl on the view of bound schemas", function () {
  this.timeout(60_000);
  before(needsKubectl);

  it("lists, explains and watches them, and prints that writes are forbidden", async () => {
    await using workspaces = await startWorkspaces();
    const credentials = { get: () => ({ headers: ["Authorization", "Bearer root"] }) };
    await using upstream = new Upstream({ url: workspaces.url, credentials });
    const provider = await Provider.make(workspaces);
    const consumer = await Consumer.make(workspaces, "consumer");
    await using server = await startTls([apiResourceSchemaView({ upstream })]);
    const contexts = { own: consumer.url(""), every: consumer.url("", "/clusters/*") };
    using home = await kubeconfigHome({ ...server, contexts, user: "alice" });
    const [file = ""] = kubectls();
    const said = async (args: string): Promise<string> => {
      const { code, stdout, stderr } = await kubectl(file, home, args.split(" "));
      return `${code} ${stdout.replace(/ +\d+m?s$/gm, " now")}${stderr === "" ? "" : ` ! ${stderr}`}`;
    };
    expect(await said(`get apiresourceschemas ${WIDGETS}`)).to.match(/^1 .*apiresourceschemas.* not found$/);
    const watch = "get apiresourceschemas --watch --output-watch-events --no-headers --context every";
    await using watching = startKubectl(file, home, watch.split(" "));
    // The list starts with the schemas of kcp's own exports.
    await watching.until("list", () => watching.lines.length > 0);
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    expect(await said("get apiresourceschemas -o name")).to.include(`apiresourceschema.apis.kcp.io/${WIDGETS}\n`);
    expect(await said(`get apiresourceschema ${WIDGETS}`)).to.match(/^0 NAME +AGE\nv1.widgets.example.dev +now$/);
    expect(await said("explain apiresourceschema.spec.scope")).to.match(/ENUM:\s+Cluster\s+Namespaced/);
    expect(await said(`delete apiresourceschema ${WIDGETS}`)).to.match(/^1 .*Forbidden.*access denied$/s);
    await consumer.unbind("widgets");
    await watching.until("end of it", () => watching.lines.some((line) => line.startsWith("DELETED")));
    const seen = watching.lines.filter((line) => line.includes(WIDGETS));
    expect(seen.map((line) => line.split(/ +/).slice(0, 2).join(" "))).to.deep.equal([
      `ADDED ${WIDGETS}`,
      `DELETED ${WIDGETS}`,
    ]);
  });
});

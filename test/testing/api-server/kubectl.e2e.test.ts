// kubectl with the kubeconfig of a test server.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startTestServer, type TestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { widget, widgetCrd } from "./support/widgets.ts";

const KUBECTL = process.env["KUBECTL"] ?? "kubectl";
const run = promisify(execFile);

describe("kubectl with a test server", function () {
  this.timeout(120_000);
  let server: TestServer;
  let env: NodeJS.ProcessEnv;

  before(async function () {
    await run(KUBECTL, ["version", "--client"]).catch(() => this.skip());
    server = await startTestServer({ crds: [widgetCrd], objects: [widget("first")], users: { ann: {} } });
    env = { ...process.env, KUBECONFIG: server.kubeconfigFile };
  });
  after(() => server?.close());

  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await run(KUBECTL, [...args], { env }).catch(
      (error: { readonly stdout: string; readonly stderr: string }) => error,
    );
    return (stdout + stderr).trim();
  };

  it("lists, creates and deletes objects at the root of the URL", async () => {
    expect(await kubectl("get", "widgets", "-o", "name")).to.equal("widget.example.dev/first");
    expect(await kubectl("create", "configmap", "colors", "--from-literal=door=green")).to.contain("created");
    expect(await kubectl("get", "configmap", "colors", "-o", "jsonpath={.data.door}")).to.equal("green");
    expect(await kubectl("delete", "widget", "first")).to.contain("deleted");
    expect(await kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).to.equal("admin");
    expect(await kubectl("version")).to.contain("Server Version");
  });

  it("acts as each user by the name of the context", async () => {
    expect(await kubectl("--context=ann", "get", "widgets")).to.contain('User "ann" cannot list resource "widgets"');
    expect(await kubectl("--context=ann", "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")).to.equal(
      "ann",
    );
  });

  it("sees the state of the start after a reset", async () => {
    await server.reset();
    expect(await kubectl("get", "widgets,configmaps", "-o", "name")).to.equal(
      "widget.example.dev/first\nconfigmap/kube-root-ca.crt",
    );
    expect(server.requests.list({ verb: "list", resource: "widgets" })).to.have.length(1);
  });
});

// The installed kubectl in a workspace. Skipped without one.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { createAuthority, kubeconfigHome } from "../../_support/server.ts";
import { base64, certificateRequest } from "../kinds/requests.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import { seeded } from "./seeded.ts";
import { widgets } from "./widgets.ts";

const KUBECTL = process.env["KUBECTL"] ?? "kubectl";
const run = promisify(execFile);

describe("kubectl in a workspace", function () {
  this.timeout(120_000);

  before(async function () {
    await run(KUBECTL, ["version", "--client"]).catch(() => this.skip());
  });

  async function start(path: string, token: string, store = memoryStore()) {
    const authority = createAuthority();
    const server = await startWorkspaces(store, { tls: authority.server });
    const home = await kubeconfigHome({
      authority,
      port: Number(new URL(server.url).port),
      contexts: { one: path },
      token,
    });
    const env = { ...process.env, HOME: home.home, KUBECONFIG: home.kubeconfig };
    return {
      server,
      file: (name: string, content: object): string => {
        const file = join(home.home, `${name}.json`);
        writeFileSync(file, JSON.stringify(content));
        return file;
      },
      kubectl: async (...args: string[]): Promise<string> => {
        const { stdout, stderr } = await run(KUBECTL, args, { env }).catch(
          (error: { stdout: string; stderr: string }) => error,
        );
        return (stdout + stderr).trim();
      },
      async [Symbol.asyncDispose]() {
        home[Symbol.dispose]();
        await server[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
      },
    };
  }
  const heads = (text: string): string[] => (text.split("\n")[0] ?? "").split(/\s{2,}/).map((head) => head.trim());

  it("shows the same columns as with Kubernetes", async () => {
    await using held = await start("/clusters/root", "admin");
    const { kubectl, file } = held;
    expect(await kubectl("create", "clusterrole", "x", "--verb=get", "--resource=configmaps")).to.contain("created");
    expect(await kubectl("create", "role", "x", "--verb=get", "--resource=configmaps")).to.contain("created");
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e", namespace: "default" },
      involvedObject: { kind: "ConfigMap", name: "m", namespace: "default", fieldPath: "data" },
      reason: "Seen",
      message: "it was seen",
      type: "Normal",
      source: { component: "test" },
      firstTimestamp: "2020-01-01T00:00:00Z",
      lastTimestamp: "2020-01-01T00:00:00Z",
    };
    expect(await kubectl("create", "-f", file("event", event))).to.contain("created");
    expect(await kubectl("apply", "-f", file("crd", widgets))).to.contain("created");
    for (const kind of ["clusterrole/x", "role/x", "crd"]) {
      const shown = await kubectl("get", kind);
      expect(heads(shown), shown).to.deep.equal(["NAME", "CREATED AT"]);
      expect(shown).to.match(/ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m);
    }
    for (const kind of ["events", "events.events.k8s.io"]) {
      expect(heads(await kubectl("get", kind))).to.deep.equal(["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]);
      const wide = await kubectl("get", kind, "-o", "wide");
      expect(heads(wide)).to.deep.equal([
        "LAST SEEN",
        "TYPE",
        "REASON",
        "OBJECT",
        "SUBOBJECT",
        "SOURCE",
        "MESSAGE",
        "FIRST SEEN",
        "COUNT",
        "NAME",
      ]);
      expect(wide.split("\n")[1]).to.match(/Normal +Seen +configmap\/m +data +test +it was seen +\S+ +1 +e$/);
    }
    expect(await kubectl("get", "events", "-o", "name")).to.equal("event/e");
    expect(heads(await kubectl("get", "rolebindings", "-A"))).to.deep.equal(["No resources found"]);
    expect(heads(await kubectl("get", "namespaces"))).to.deep.equal(["NAME", "STATUS", "AGE"]);
  });

  it("explains and validates built-in and custom kinds", async () => {
    await using held = await start("/clusters/root", "admin");
    const { kubectl, file } = held;
    expect(await kubectl("explain", "configmaps.data")).to.match(/FIELD: data <map\[string\]string>/);
    expect(await kubectl("explain", "workspaces.spec.type")).to.contain("FIELD: type <Object>");
    expect(await kubectl("apply", "-f", file("crd", widgets))).to.contain("created");
    expect(await kubectl("wait", "--for=condition=Established", "crd/widgets.example.dev", "--timeout=20s")).to.contain(
      "met",
    );
    expect(await kubectl("explain", "widgets.spec.size")).to.match(/FIELD: size <integer>[\s\S]*How large\./);
    const widget = (spec: object) =>
      file("widget", { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "w" }, spec });
    for (const how of ["strict", "true", "warn"])
      expect(await kubectl("apply", `--validate=${how}`, "--dry-run=server", "-f", widget({ sise: 1 }))).to.match(
        /unknown field "spec\.sise"|spec\.sise: field not declared/,
      );
    expect(await kubectl("apply", "--server-side", "-f", widget({ size: 1 }))).to.contain("serverside-applied");
    expect(await kubectl("get", "wi", "-o", "jsonpath={.items[0].spec.size}")).to.equal("1");
    expect(await kubectl("delete", "crd", "widgets.example.dev", "--timeout=20s")).to.contain("deleted");
    expect(await kubectl("get", "widgets")).to.match(/NotFound|have a resource type/);
  });

  it("approves and denies certificate signing requests, for users with the signer's verb", async () => {
    await using held = await start("/clusters/root", "admin");
    const { kubectl, file } = held;
    const request = (name: string) => ({
      ...{ apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest", metadata: { name } },
      spec: {
        request: base64(certificateRequest(["team"])),
        signerName: "example.com/serving",
        usages: ["client auth"],
      },
    });
    for (const name of ["one", "two"])
      expect(await kubectl("create", "-f", file(name, request(name)))).to.match(/created$/);
    expect(heads(await kubectl("get", "csr"))).to.deep.equal([
      ...["NAME", "AGE", "SIGNERNAME", "REQUESTOR", "REQUESTEDDURATION", "CONDITION"],
    ]);
    const all = ["--verb=*", "--resource=csr,csr/approval"];
    expect(await kubectl("create", "clusterrole", "all", ...all)).to.match(/created$/);
    expect(await kubectl("create", "clusterrolebinding", "all", "--clusterrole=all", "--user=alice")).to.match(
      /created$/,
    );
    const enter = ["--clusterrole=system:kcp:workspace:access", "--user=alice"];
    expect(await kubectl("create", "clusterrolebinding", "enter", ...enter)).to.match(/created$/);
    expect(await kubectl("--token=alice", "certificate", "approve", "one")).to.contain(
      'certificatesigningrequests.certificates.k8s.io "one" is forbidden: user not permitted to approve requests with signerName "example.com/serving"',
    );
    expect(await kubectl("certificate", "approve", "one")).to.match(/one approved$/);
    expect(await kubectl("certificate", "deny", "two")).to.match(/two denied$/);
    expect(await kubectl("get", "csr", "--no-headers")).to.match(/^one .* Approved\ntwo .* Denied$/);
    expect(await kubectl("certificate", "deny", "one")).to.contain("already Approved");
  });

  it("shows the user, permissions and resources, also by path", async () => {
    const store = await seeded({ workspace: "org", cluster: "2abc" });
    await using held = await start("/clusters/root:org", "admin", store);
    const { kubectl } = held;
    expect(await kubectl("auth", "whoami")).to.match(/Username +kcp-admin/);
    expect(await kubectl("auth", "can-i", "create", "configmaps")).to.equal("yes");
    expect(await kubectl("auth", "can-i", "--list")).to.match(/\*\.\* +\[\] +\[\] +\[\*\]/);
    expect(await kubectl("api-resources", "--api-group=rbac.authorization.k8s.io", "-o", "name")).to.contain(
      "clusterroles",
    );
    expect(await kubectl("version")).to.contain("Server Version: v1.");
    expect(await kubectl("get", "--raw", "/clusters/root:org/healthz")).to.equal("ok");
    expect(await kubectl("get", "--raw", "/healthz")).to.equal("ok");
    expect(await kubectl("get", "--raw", "/metrics")).to.contain("apiserver_request_total");
    expect(await kubectl("get", "logicalclusters", "-o", "name")).to.equal("logicalcluster.core.kcp.io/cluster");
    await using mine = await start("/clusters/root", "alice");
    const home = await mine.kubectl("get", "workspace", "~", "-o", "jsonpath={.spec.URL}");
    expect(home).to.match(/^https:\/\/127\.0\.0\.1:\d+\/clusters\/v1u4alow0iv9$/);
    expect(heads(await mine.kubectl("get", "workspace", "~"))).to.include.members(["NAME", "PHASE", "URL"]);
    const there = await mine.kubectl("--server", home, "create", "configmap", "m");
    expect(there).to.equal("configmap/m created");
    await using other = await start("/clusters/nothing", "alice");
    expect(await other.kubectl("get", "--raw", "/metrics")).to.contain("(Forbidden)");
    expect(await other.kubectl("auth", "whoami")).to.match(/Forbidden|selfsubjectreviews API is not enabled/);
    expect(await other.kubectl("get", "configmaps")).to.contain("Error from server (Forbidden)");
  });
});

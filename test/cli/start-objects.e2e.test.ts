// kubectl in a workspace of `virtual-workspaces start`, with kill -9 in between: objects, custom kinds, permissions.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { crd } from "../_support/crd.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Start } from "./support/start.ts";

const WIDGETS = crd("Widget", {
  properties: {
    spec: {
      type: "object",
      properties: { size: { type: "integer" } },
      "x-kubernetes-validations": [{ rule: "self.size < 4", message: "too large" }],
    },
  },
});

const widget = (name: string, size: number): object => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name },
  spec: { size },
});

describe("kubectl in a workspace of virtual-workspaces start", function () {
  this.timeout(60_000);
  before(needsKubectl);

  /** Creates an object from a file. */
  function create(server: Start, object: object, ...flags: readonly string[]): Promise<string> {
    const file = join(server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    return server.kubectl("create", "-f", file, ...flags);
  }

  it("serves custom kinds with their rules, before and after kill -9", async () => {
    await using first = await Start.ready();
    expect(await create(first, WIDGETS)).to.equal(
      "0 customresourcedefinition.apiextensions.k8s.io/widgets.example.dev created",
    );
    expect(await first.kubectl("wait", "crd/widgets.example.dev", "--for=condition=Established")).to.match(/^0 /);
    expect(await create(first, widget("small", 3))).to.equal("0 widget.example.dev/small created");
    expect(await create(first, widget("large", 4))).to.match(/^1 .*spec: Invalid value: .*too large/s);
    await first.end("SIGKILL");
    await using second = await Start.ready({ in: first.folder.path });
    expect(await second.kubectl("get", "widgets", "-o", "name")).to.equal("0 widget.example.dev/small");
    expect(await create(second, widget("large", 4))).to.match(/^1 .*too large/s);
    expect(await second.kubectl("explain", "widget.spec")).to.match(/^0 [\s\S]*size\s+<integer>/);
    expect(await second.kubectl("--context=system:admin", "get", "widgets")).to.match(
      /^1 .*doesn't have a resource type/,
    );
  });

  it("denies and then allows by RBAC, and again after kill -9", async () => {
    const users = { "tokens.csv": "alice-token,alice,1\n" };
    await using first = await Start.ready({ files: users });
    const asAlice = ["--token=alice-token", "--kubeconfig"];
    const alice = (server: Start, ...args: readonly string[]): Promise<string> =>
      server.kubectl(...args, ...asAlice, plain(server));
    const get = ["get", "configmaps", "-o", "name"] as const;
    expect(await alice(first, ...get)).to.match(/^1 .*\(Forbidden\).*User "alice" cannot list resource "configmaps"/);
    expect(await alice(first, "auth", "can-i", "list", "configmaps")).to.match(/^1 no/);
    const role = ["create", "role", "reader", "--verb=get,list", "--resource=configmaps"];
    expect(await first.kubectl(...role)).to.equal("0 role.rbac.authorization.k8s.io/reader created");
    const binding = ["create", "rolebinding", "alice", "--role=reader", "--user=alice"];
    expect(await first.kubectl(...binding)).to.equal("0 rolebinding.rbac.authorization.k8s.io/alice created");
    expect(await first.kubectl("create", "configmap", "a", "--from-literal=x=y")).to.equal("0 configmap/a created");
    expect(await alice(first, ...get)).to.equal("0 configmap/a\nconfigmap/kube-root-ca.crt");
    expect(await alice(first, "create", "configmap", "b")).to.match(/^1 .*User "alice" cannot create/);
    await first.end("SIGKILL");
    await using second = await Start.ready({ in: first.folder.path, files: users });
    expect(await alice(second, ...get)).to.equal("0 configmap/a\nconfigmap/kube-root-ca.crt");
    expect(await second.kubectl("delete", "rolebinding", "alice")).to.match(/^0 .*"alice" deleted/);
    expect(await alice(second, ...get)).to.match(/^1 .*\(Forbidden\)/);
  });

  /** Returns a kubeconfig without credentials, which would take precedence over a token. */
  function plain(server: Start): string {
    const file = join(server.folder.path, "plain.kubeconfig");
    const ca = Buffer.from(server.text("apiserver.crt")).toString("base64");
    const cluster = { server: `${server.url}/clusters/root`, "certificate-authority-data": ca };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "root",
      clusters: [{ name: "root", cluster }],
      contexts: [{ name: "root", context: { cluster: "root", user: "none" } }],
      users: [{ name: "none", user: {} }],
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }
});

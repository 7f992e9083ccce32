// Kubernetes' own kinds in the view of an author: `kubectl create` sends them in protobuf from 1.33 on, and patches are strategic.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { kubeconfigHome, startTls } from "../../_support/server.ts";
import { kubectl } from "../../go/support/kubectl.ts";

const texts = { type: "object", additionalProperties: { type: "string" } } as const;
const core = { group: "", version: "v1" } as const;
const ConfigMap = defineResource({
  ...core,
  kind: "ConfigMap",
  scope: "Namespaced",
  shortNames: ["cm"],
  schema: { type: "object", properties: { data: texts } },
});
const Secret = defineResource({
  ...core,
  kind: "Secret",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: texts, type: { type: "string" } } },
});
const Namespace = defineResource({
  ...core,
  kind: "Namespace",
  scope: "Cluster",
  schema: { type: "object", properties: { spec: { type: "object" }, status: { type: "object" } } },
});

async function start(file: string) {
  await using stack = new AsyncDisposableStack();
  const all = { maps: ConfigMap.collection(), secrets: Secret.collection(), namespaces: Namespace.collection() };
  const view = defineVirtualWorkspace({
    name: "core",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [ConfigMap.serve(all.maps), Secret.serve(all.secrets), Namespace.serve(all.namespaces)],
  });
  const { authority, port } = stack.use(await startTls([view]));
  const contexts = { core: "/services/core/clusters/root" };
  const home = stack.use(await kubeconfigHome({ authority, port, contexts, namespace: "default" }));
  const run = async (command: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(file, home, command.split(" "));
    expect(code, `${command}: ${stderr}`).to.equal(0);
    return stdout;
  };
  const kept = stack.move();
  return { ...all, run, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Defines the cases of one kubectl, within a `describe`. */
export function coreKindCases(file: () => string): void {
  it("creates ConfigMaps, Secrets and Namespaces from flags in a view that serves them", async () => {
    await using stage = await start(file());
    expect(await stage.run("create configmap menu --from-literal=soup=tomato")).to.equal("configmap/menu created");
    expect(await stage.run("create secret generic pin --from-literal=code=1234")).to.equal("secret/pin created");
    expect(await stage.run("create namespace shop")).to.equal("namespace/shop created");
    expect(stage.maps.in("root", "default").get("menu")?.data).to.deep.equal({ soup: "tomato" });
    expect(stage.secrets.in("root", "default").get("pin")?.data).to.deep.equal({ code: "MTIzNA==" });
    expect(stage.namespaces.in("root").list()).to.have.length(1);
    expect(await stage.run("get configmap menu -o jsonpath={.data.soup}")).to.equal("tomato");
  });

  it("changes a ConfigMap with its strategic merge patches", async () => {
    await using stage = await start(file());
    await stage.run("create configmap menu --from-literal=soup=tomato");
    expect(await stage.run('patch configmap menu -p {"data":{"soup":"pea"}}')).to.equal("configmap/menu patched");
    expect(stage.maps.in("root", "default").get("menu")?.data).to.deep.equal({ soup: "pea" });
  });
}

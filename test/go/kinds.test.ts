// Kubernetes' own kinds, written by typed Go clients with default settings, which send protobuf.
import { expect } from "chai";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../_support/server.ts";
import { KINDS, kindsView } from "../workspace-server/kinds/served.ts";
import { building } from "./support/build.ts";
import { GoClient } from "./support/client.ts";
import { builtKubectl, kubectl } from "./support/kubectl.ts";

const KEPT = [
  ...["Namespace", "ConfigMap", "Secret", "ServiceAccount", "ResourceQuota", "Event", "events.k8s.io Event", "Lease"],
  ...[
    "CertificateSigningRequest",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
  ],
];

describe("Kubernetes' own kinds", function () {
  this.timeout(120_000);
  let server: TlsServer;
  let home: KubeconfigHome;
  let types: Record<string, number>;
  const steps = new Map<string, Record<string, unknown>>();

  before(async function () {
    await building("clients").call(this);
    server = await startTls([kindsView()]);
    const { authority, port } = server;
    home = await kubeconfigHome({ authority, port, contexts: { kinds: KINDS }, namespace: "default" });
    await using client = GoClient.start("kinds", { kubeconfig: home.kubeconfig });
    await client.event("done", undefined, 60_000);
    types = (await client.event("sent"))["types"];
    for (const { event: _event, at: _at, step, ...told } of client.all("step")) steps.set(String(step), told);
    await client.end();
  });
  after(async () => {
    home[Symbol.dispose]();
    await server.close();
  });

  for (const kind of KEPT)
    it(`are created, listed, watched, updated, patched and deleted: ${kind}`, () => {
      expect(steps.get(kind)).to.deep.equal({
        generation: kind === "CustomResourceDefinition" ? 1 : 0,
        same: "",
        listed: 1,
        labels: {
          changed: "yes",
          patched: "yes",
          ...(kind === "Namespace" ? { "kubernetes.io/metadata.name": "made" } : {}),
        },
        seen: ["MODIFIED", "MODIFIED", kind === "Namespace" ? "MODIFIED" : "DELETED"],
      });
    });

  it("arrive in protobuf", () => {
    const others = Object.keys(types).filter((sent) => !sent.startsWith("application/vnd.kubernetes.protobuf "));
    // client-go's own method for that does not use protobuf
    expect(others.filter((sent) => !sent.endsWith("/finalize"))).to.deep.equal([]);
    expect(Object.keys(types).length).to.be.above(20);
  });

  it("accept write-only kinds, and applies", () => {
    expect(steps.get("Secret stringData")).to.deep.equal({ data: "v", type: "Opaque", plain: 0 });
    expect(steps.get("ConfigMap apply")).to.deep.equal({ data: "v", owner: "me" });
    expect(steps.get("controller-runtime")).to.deep.equal({ data: "w" });
  });

  it("accept updates without a version, and updates that create, where Kubernetes does", () => {
    expect(steps.get("Update without a version")).to.deep.equal({ data: "w" });
    expect(steps.get("Update that creates")).to.deep.equal({ uid: true });
  });

  it("apply the delete options from protobuf", () => {
    expect(steps.get("Delete with a wrong uid")).to.include({ reason: "Conflict" });
    expect(steps.get("Delete dry")).to.deep.equal({});
  });

  it("delete a namespace once the last finalizer of its spec is gone", () => {
    expect(steps.get("Finalize")).to.include({ phase: "Terminating", label: true, reason: "NotFound" });
  });

  it("elect leaders by leases", () => {
    expect(steps.get("leader election")).to.deep.equal({});
  });

  it("can be created, shown and described with kubectl", async () => {
    const run = async (command: string): Promise<string> => {
      const { code, stdout, stderr } = await kubectl(builtKubectl(), home, command.split(" "));
      expect({ code, stderr }, command).to.deep.equal({ code: 0, stderr: "" });
      return stdout;
    };
    await run("create namespace n");
    await run("create configmap c --from-literal=a=b");
    await run("create secret generic s --from-literal=a=b");
    await run("create serviceaccount sa");
    await run("create role r --verb=get --resource=configmaps");
    await run("create rolebinding b --role=r --serviceaccount=default:sa");
    await run("create clusterrole cr --verb=get --resource=configmaps");
    await run("create clusterrolebinding cb --clusterrole=cr --user=u");
    await run("create quota q --hard=count/configmaps=3");
    await run("label configmap c x=y");
    await run("annotate secret s x=y");
    expect(await run("get ns n --no-headers")).to.match(/^n +Active +\S+$/);
    expect(await run("get secret s --no-headers")).to.match(/^s +Opaque( +1)? +\S+$/);
    expect(await run("get lease leader --no-headers")).to.match(/^leader +\S* +\S+$/);
    expect(await run("describe configmap c")).to.match(
      /^Name: +c\nNamespace: +default\nLabels: +x=y\n[\s\S]*\na:\n----\nb\n/,
    );
    expect(await run("describe secret s")).to.match(/Type: +Opaque\n\nData\n====\na: +1 bytes/);
    expect(await run("describe rolebinding b")).to.match(
      /Role:\n +Kind: +Role\n +Name: +r\n[\s\S]*ServiceAccount +sa +default/,
    );
    expect(await run("describe clusterrole cr")).to.match(/configmaps +\[\] +\[\] +\[get\]/);
    expect(await run("describe clusterrolebinding cb")).to.match(/User +u/);
    expect(await run("describe quota q")).to.match(/Resource +Used +Hard/);
    expect(await run("describe ns n")).to.match(/Status: +Active/);
    expect(await run("describe sa sa")).to.match(/^Name: +sa\n/);
    expect(await run("get secrets --field-selector=type=Opaque -o name")).to.contain("secret/s");
    expect((await run("api-resources -o name --categories=api-extensions")).trim().split("\n")).to.deep.equal([
      "mutatingadmissionpolicies.admissionregistration.k8s.io",
      "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
      "mutatingwebhookconfigurations.admissionregistration.k8s.io",
      "validatingadmissionpolicies.admissionregistration.k8s.io",
      "validatingadmissionpolicybindings.admissionregistration.k8s.io",
      "validatingwebhookconfigurations.admissionregistration.k8s.io",
      "customresourcedefinitions.apiextensions.k8s.io",
    ]);
  });
});

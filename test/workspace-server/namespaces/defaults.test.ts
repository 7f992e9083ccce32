// Default content of every namespace of every logical cluster, and token Secrets.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const CORE = "/api/v1/namespaces";
const DEFAULTS = ["configmaps/kube-root-ca.crt", "serviceaccounts/default"];

describe("default content of namespaces", () => {
  for (const cluster of ["root", "1a2b3c"])
    it(`of ${cluster} includes the account and the root CA, restored after deletion or change`, async () => {
      await using server = await startWorkspaces();
      const client = new ClusterClient(server, cluster);
      await client.namespace("new");
      for (const path of DEFAULTS) {
        const before = await client.until(`${CORE}/new/${path}`, ({ status }) => status === 200);
        await client.delete(`${CORE}/new/${path}`);
        const { uid } = before.body.metadata;
        await client.until(`${CORE}/new/${path}`, ({ status, body }) => status === 200 && body.metadata.uid !== uid);
      }
      const map = `${CORE}/new/configmaps/kube-root-ca.crt`;
      await client.patch(map, { data: { "ca.crt": "another", more: "x" }, metadata: { labels: { mine: "yes" } } });
      const { body } = await client.until(map, ({ body: { data } }) => data["ca.crt"] !== "another");
      expect(body.data).to.deep.equal({ "ca.crt": "-----BEGIN CERTIFICATE-----" });
      expect(body.metadata.labels).to.deep.equal({ mine: "yes" });
      expect(body.metadata.annotations["kubernetes.io/description"]).to.match(/^Contains a CA bundle/);
    });

  it("is created for namespaces from before a start", async () => {
    await using store = memoryStore();
    {
      await using server = await startWorkspaces(store);
      await new ClusterClient(server).gone("/api/v1/namespaces/none");
    }
    await using server = await startWorkspaces(store);
    for (const path of DEFAULTS)
      await new ClusterClient(server).until(`${CORE}/default/${path}`, ({ status }) => status === 200);
  });

  it("is restored at a start where it was lost or changed meanwhile, and not written elsewhere", async () => {
    await using store = memoryStore();
    const names = ["kept", "lost", "changed", "described", "more"];
    {
      await using server = await startWorkspaces(store);
      const client = new ClusterClient(server, "1a2b3c");
      for (const name of names) {
        await client.namespace(name);
        for (const path of DEFAULTS) await client.until(`${CORE}/${name}/${path}`, ({ status }) => status === 200);
      }
    }
    const key = (resource: string, namespace: string, name: string): string =>
      `/${resource}/1a2b3c/${namespace}/${name}`;
    const change = async (namespace: string, from: string, to: string): Promise<void> => {
      const at = key("configmaps", namespace, "kube-root-ca.crt");
      const value = (await store.get(at))?.value.toString("latin1") ?? "";
      expect(value).to.contain(from);
      const changed = Buffer.from(value.replace(from, to), "latin1");
      await store.commit({ conditions: [], operations: [{ type: "put", key: at, value: changed }] });
    };
    const lost = [key("configmaps", "lost", "kube-root-ca.crt"), key("serviceaccounts", "lost", "default")];
    await store.commit({ conditions: [], operations: lost.map((at) => ({ type: "delete", key: at })) });
    await change("changed", "-----BEGIN CERTIFICATE-----", "another");
    await change("described", "Contains a CA bundle", "Is a CA bundle");
    await change("more", '"data":{', '"immutable":false,"data":{');
    const before = await store.get(key("configmaps", "kept", "kube-root-ca.crt"));
    await using server = await startWorkspaces(store);
    const client = new ClusterClient(server, "1a2b3c");
    for (const name of names) {
      const { body } = await client.until(`${CORE}/${name}/configmaps/kube-root-ca.crt`, ({ status, body: found }) => {
        const { data, metadata } = found;
        if (status !== 200 || data["ca.crt"] !== "-----BEGIN CERTIFICATE-----" || "immutable" in found) return false;
        return /^Contains a CA bundle/.test(metadata.annotations["kubernetes.io/description"]);
      });
      expect(body.metadata.name).to.equal("kube-root-ca.crt");
      await client.until(`${CORE}/${name}/serviceaccounts/default`, ({ status }) => status === 200);
    }
    expect((await store.get(key("configmaps", "kept", "kube-root-ca.crt")))?.modRevision).to.equal(before?.modRevision);
  });

  it("includes tokens for Secrets that name an account, until that account is deleted", async () => {
    await using server = await startWorkspaces();
    const client = new ClusterClient(server);
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "builder" } };
    const { metadata } = await client.create(`${CORE}/default/serviceaccounts`, account);
    const secret = (name: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/service-account-token",
      metadata: { name, annotations: { "kubernetes.io/service-account.name": "builder" } },
    });
    await client.create(`${CORE}/default/secrets`, secret("token"));
    const { body } = await client.until(`${CORE}/default/secrets/token`, (answer) => answer.body.data?.token);
    expect(Buffer.from(body.data.namespace, "base64").toString()).to.equal("default");
    expect(Buffer.from(body.data["ca.crt"], "base64").toString()).to.equal("-----BEGIN CERTIFICATE-----");
    expect(body.metadata.annotations["kubernetes.io/service-account.uid"]).to.equal(metadata.uid);
    const token = Buffer.from(body.data.token, "base64").toString();
    const who = await server.send(
      "POST /clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { user: token },
    );
    expect(who.text).to.contain("system:serviceaccount:default:builder");
    await client.delete(`${CORE}/default/serviceaccounts/builder`);
    await client.gone(`${CORE}/default/secrets/token`);
    await client.create(`${CORE}/default/secrets`, secret("of-nobody"));
    await client.gone(`${CORE}/default/secrets/of-nobody`);
  });
});

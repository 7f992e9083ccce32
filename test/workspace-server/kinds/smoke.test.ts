import { startPlain } from "../../_support/plain.ts";
import { KINDS, kindsView } from "./served.ts";
it("smoke", async () => {
  await using s = await startPlain([kindsView()]);
  const p = `${KINDS}/api/v1`;
  const show = async (c: any, b?: unknown) => { const a = await s.send(c, b); console.log(c, a.status, a.text.slice(0, 900)); return a; };
  await show(`POST ${p}/namespaces`, { apiVersion: "v1", kind: "Namespace", metadata: { name: "a" } });
  await show(`POST ${p}/namespaces/a/secrets`, { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, stringData: { a: "b" } });
  await show(`POST ${p}/namespaces/a/secrets`, { apiVersion: "v1", kind: "Secret", metadata: { name: "b" }, data: { a: "b" } });
  await show(`DELETE ${p}/namespaces/a`);
  await show(`PUT ${p}/namespaces/a/finalize`, { apiVersion: "v1", kind: "Namespace", metadata: { name: "a" }, spec: {} });
  await show(`GET ${p}/namespaces/a`);
  await show(`POST ${p}/namespaces/a/events`, { apiVersion: "v1", kind: "Event", metadata: { name: "a" }, involvedObject: { namespace: "a", kind: "Pod", name: "x" }, message: "hi" });
  await show(`GET ${KINDS}/apis/events.k8s.io/v1/namespaces/a/events`);
  await show(`POST ${KINDS}/apis/rbac.authorization.k8s.io/v1/clusterroles`, { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "system:a" } });
  await show(`POST ${KINDS}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`, { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: "system:a" } });
});

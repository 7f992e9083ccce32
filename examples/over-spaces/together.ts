// All Spaces of a management cluster as one API server, for whoever may log in there: a process of its own, beside a kcp or any Kubernetes.
//
//   KUBECONFIG=admin.kubeconfig node together.ts 6444      its current context is where the Spaces are
import { once } from "node:events";
import { createServer } from "@virtual-workspaces/framework";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import { followSpaces, spacesView } from "@virtual-workspaces/spaces";
import { Client, tokenReview } from "@virtual-workspaces/workspaces";

const onError = ({ error, space }: { readonly error: unknown; readonly space?: string }): void =>
  console.error(space ?? "", String(error));

await using client = await Client.fromKubeconfig();
const { upstream, clusterName: cluster } = client;
await using logins = tokenReview({ upstream, cluster, away: "unavailable" });
await using spaces = followSpaces({ client, onError });
const { tls } = await generatedTls({ dir: "together-tls" });
const server = createServer({
  virtualWorkspaces: [spacesView({ spaces, reviews: client, onError })],
  authentication: [logins],
  tls,
});
const { url } = await server.listen({ port: Number(process.argv[2] ?? 6444) });
console.log(`kubectl --server='${url}/services/spaces/*/*' --certificate-authority=together-tls/ca.crt --token=…`);
await Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
await server.close();

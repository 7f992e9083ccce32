import { resourcePath, workspacePath } from "../api/base.ts";
import { request } from "../api/client.ts";
import { route } from "../route.ts";
import { isMounted } from "../workspaces/mounted.ts";
import { ancestorsOf } from "../workspaces/workspace.ts";
import { texts } from "./texts.ts";
import { pathBelowApi, withClusters } from "./view-path.ts";

/**
 * A kubeconfig for a URL, without a credential: the browser has none. With the certificate authorities of the server, if the URL is one of
 * this server and the user may read them.
 */
export async function kubeconfigFor(url: string, name: string): Promise<string> {
  const text = JSON.stringify;
  const words = texts.kubeconfig;
  const server = withClusters(url);
  const authority = pathBelowApi(url) === undefined ? undefined : await readAuthority();
  const authorityLines =
    authority === undefined
      ? `      # ${words.authority}\n      # certificate-authority: apiserver.crt`
      : `      # ${words.published}\n      certificate-authority-data: ${base64(authority)}`;
  const clusterLine = server === url ? "" : `      # ${words.clusters}\n`;
  return `# ${words.token}
apiVersion: v1
kind: Config
clusters:
  - name: ${text(name)}
    cluster:
${clusterLine}      server: ${text(server)}
${authorityLines}
users:
  - name: me
    user:
      token: ""
contexts:
  - name: ${text(name)}
    context:
      cluster: ${text(name)}
      user: me
current-context: ${text(name)}
`;
}

interface ConfigMap {
  readonly data?: Readonly<Record<string, string>>;
}

/** The certificate authorities that the server publishes in each of its workspaces. Those of a mounted one are of another server. */
async function readAuthority(): Promise<string | undefined> {
  const own = ancestorsOf(route.peek().workspace).filter((path) => isMounted(path) === false);
  const at = { namespace: "default", name: "kube-root-ca.crt" };
  for (const workspace of new Set(["root", ...own.toReversed()])) {
    const path = `${workspacePath(workspace)}/${resourcePath({ group: "", version: "v1", resource: "configmaps" }, at)}`;
    const { data } = await request<ConfigMap>(path).catch((): ConfigMap => ({}));
    if (data?.["ca.crt"]) return data["ca.crt"];
  }
  return undefined;
}

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

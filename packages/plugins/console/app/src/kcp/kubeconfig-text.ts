import { texts } from "./texts.ts";

/** A kubeconfig for a URL, without a credential: the browser has none. */
export function kubeconfigFor(url: string, name: string): string {
  const text = JSON.stringify;
  return `# ${texts.kubeconfig.token}
# ${texts.kubeconfig.authority}
apiVersion: v1
kind: Config
clusters:
  - name: ${text(name)}
    cluster:
      server: ${text(url)}
      # certificate-authority-data: …
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

/** Puts the kubeconfig for a URL into the clipboard. */
export const copyKubeconfig = (url: string, name: string): Promise<void> =>
  navigator.clipboard.writeText(kubeconfigFor(url, name));

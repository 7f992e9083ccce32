import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { shellWord } from "../../shell.ts";

/** Who asks where, and what is answered. */
export interface Way {
  readonly who: string;
  readonly context: string;
  /** @default that of the context */
  readonly server?: string;
}

/** What is asked: as kubectl is told, and as we do. */
export interface Question {
  readonly get: readonly string[];
  readonly ask: (client: Client) => Promise<string>;
}

/** What is in a ConfigMap of the namespace `default`. */
export const configMap = (name: string): Question => ({
  get: ["configmap", name],
  ask: async (client) => {
    const { data = {} } = await client.resource(ConfigMap).in("default").get(name);
    return Object.entries(data)
      .map((entry) => entry.join("="))
      .join(" ");
  },
});

/** A question, as it is answered to whom: each with the command that asks it. */
export function rows(kubeconfig: string, question: Question, ways: readonly Way[]): Promise<string[]> {
  return Promise.all(ways.map((way) => row(kubeconfig, question, way)));
}

async function row(kubeconfig: string, { get, ask }: Question, { who, context, server }: Way): Promise<string> {
  const at = server === undefined ? [] : ["--server", server];
  const command = ["kubectl", "--context", context, ...at, "get", ...get].map(shellWord).join(" ");
  const { upstream, cluster } = await loadKubeconfig({ file: kubeconfig, context });
  const place =
    server === undefined ? { upstream, ...(cluster && { cluster }) } : { upstream: { ...upstream, url: server } };
  await using client = new Client(place);
  return `  ${who}\n    $ ${command}\n    ${await ask(client).catch(refusal)}`;
}

/** As kubectl says it. @throws what is no answer */
function refusal(error: unknown): string {
  if (!isApiError(error)) throw error;
  return `Error from server (${error.status.reason}): ${error.message}`;
}

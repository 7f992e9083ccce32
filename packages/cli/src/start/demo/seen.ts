import { isApiError } from "@virtual-workspaces/apimachinery";
import { Client, loadKubeconfig } from "@virtual-workspaces/client";
import { ConfigMap } from "@virtual-workspaces/workspace-server";
import { shellWord } from "../../shell.ts";
import { MENU } from "./place.ts";

/** The view that shows the object, by its name. */
const VIEW = "published";

/** Where the demonstration is. */
export interface DemoPlace {
  readonly kubeconfig: string;
  /** Of the server. */
  readonly url: string;
  /** The logical cluster that the object is in. */
  readonly cluster: string;
  /** The names of the views that are served. */
  readonly views: readonly string[];
}

/** One object as it is answered to whom: in its workspace, through a view, and as somebody who may not see it. */
export async function seen({ kubeconfig, url, cluster, views }: DemoPlace): Promise<string> {
  const through = `${url}/services/${VIEW}/clusters/${cluster}`;
  const ways = [
    { who: "in its workspace, as Alice", context: "alice" },
    ...(views.includes(VIEW) ? [{ who: "through a view, as Alice", context: "alice", server: through }] : []),
    { who: "as Bob, who is refused", context: "bob" },
  ];
  const rows = await Promise.all(
    ways.map(async ({ who, context, server }) => {
      const at = server === undefined ? [] : ["--server", server];
      const command = ["kubectl", "--context", context, ...at, "get", "configmap", MENU].map(shellWord).join(" ");
      return `  ${who}\n    $ ${command}\n    ${await answer({ kubeconfig, context, server })}`;
    }),
  );
  return ["One object, seen three ways:", ...rows, ""].join("\n");
}

interface Asked {
  readonly kubeconfig: string;
  readonly context: string;
  /** @default that of the context */
  readonly server: string | undefined;
}

async function answer({ kubeconfig, context, server }: Asked): Promise<string> {
  const { upstream, cluster } = await loadKubeconfig({ file: kubeconfig, context });
  const place =
    server === undefined ? { upstream, ...(cluster && { cluster }) } : { upstream: { ...upstream, url: server } };
  await using client = new Client(place);
  try {
    const { data = {} } = await client.resource(ConfigMap).in("default").get(MENU);
    return Object.entries(data)
      .map((entry) => entry.join("="))
      .join(" ");
  } catch (error) {
    if (!isApiError(error)) throw error;
    return `Error from server (${error.status.reason}): ${error.message}`;
  }
}

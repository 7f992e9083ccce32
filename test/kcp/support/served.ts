// kcp's kinds on a server, each kept in a collection.
import {
  allow,
  defineVirtualWorkspace,
  type ResourceDefinition,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import {
  LogicalCluster,
  Mount,
  Partition,
  PartitionSet,
  Shard,
  Workspace,
  WorkspaceAuthenticationConfiguration,
  WorkspaceType,
} from "@virtual-workspaces/kcp";
import { type Answer, type PlainServer, startPlain } from "../../_support/plain.ts";

/** Where the kinds are served. */
export const ROOT = "/services/kcp/clusters/root";

/** The kinds, all of them. */
export function kcpView(): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "kcp",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [
      LogicalCluster.serve(LogicalCluster.collection()),
      Shard.serve(Shard.collection()),
      Mount.serve(Mount.collection()),
      Workspace.serve(Workspace.collection()),
      WorkspaceType.serve(WorkspaceType.collection()),
      WorkspaceAuthenticationConfiguration.serve(WorkspaceAuthenticationConfiguration.collection()),
      Partition.serve(Partition.collection()),
      PartitionSet.serve(PartitionSet.collection()),
    ],
  });
}

/** A server of kcp's kinds, and what is said to one of them. */
export interface KcpServer extends PlainServer {
  /** Makes an object, named `one` unless something else is said. */
  make(content: object, name?: string): Promise<Answer>;
  /** An object, as it is now. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  read(name: string): Promise<any>;
  /** Replaces an object, or its status, by what `change` leaves of it. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  edit(name: string, change: (object: any) => void, subresource?: "/status"): Promise<Answer>;
  /** The same, once for each change: what is wrong with it. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  wrong(name: string, changes: readonly ((object: any) => void)[], subresource?: "/status"): Promise<string[][]>;
  /** The cells of the table that kubectl would show, header first, without ages. */
  table(): Promise<unknown[][]>;
}

/** Starts one, to talk to about `kind`. */
export async function startKcp({ group, version, kind, plural }: ResourceDefinition): Promise<KcpServer> {
  const server = await startPlain([kcpView()]);
  const url = `${ROOT}/apis/${group}/${version}/${plural}` as const;
  const edit: KcpServer["edit"] = async (name, change, subresource) => {
    const { body } = await server.get(`${url}/${name}`);
    change(body);
    return server.send(`PUT ${url}/${name}${subresource ?? ""}`, body);
  };
  return Object.assign(server, {
    make: (content: object, name = "one") =>
      server.send(`POST ${url}`, { apiVersion: `${group}/${version}`, kind, metadata: { name }, ...content }),
    read: async (name: string) => (await server.get(`${url}/${name}`)).body,
    edit,
    wrong: async (name: string, changes: Parameters<KcpServer["wrong"]>[1], subresource?: "/status") => {
      const found: string[][] = [];
      for (const change of changes) found.push(causes(await edit(name, change, subresource)));
      return found;
    },
    table: async () => {
      const { body } = await server.get(url, { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } });
      const columns: { name: string }[] = body.columnDefinitions;
      const ages = columns.findIndex(({ name }) => name === "Age");
      const rows: { cells: unknown[] }[] = body.rows;
      return [columns.map(({ name }) => name), ...rows.map(({ cells }) => cells.toSpliced(ages, 1))];
    },
  });
}

/** The last cause where rules had to be left out, since they count on values of the right type and size. */
export const NOT_CHECKED =
  "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/** What is wrong, a line for each cause: `field: message`. */
export function causes({ status, body }: Answer): string[] {
  const found: { field: string; message: string }[] = body.details?.causes ?? [];
  return status < 300 ? [`${status}`] : found.map(({ field, message }) => `${field}: ${message}`);
}

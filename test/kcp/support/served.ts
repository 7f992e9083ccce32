// kcp's kinds on a server, each stored in a collection.
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

/** Path of the kinds. */
export const ROOT = "/services/kcp/clusters/root";

/** Returns a view with all kinds. */
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

/** Server of kcp's kinds, with helpers for one of them. */
export interface KcpServer extends PlainServer {
  /** Creates an object with the default name `one`. */
  make(content: object, name?: string): Promise<Answer>;
  /** Returns the current object. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  read(name: string): Promise<any>;
  /** Replaces an object or its status by the result of `change`. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  edit(name: string, change: (object: any) => void, subresource?: "/status"): Promise<Answer>;
  /** Does the same for each change and returns the causes of the errors. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  wrong(name: string, changes: readonly ((object: any) => void)[], subresource?: "/status"): Promise<string[][]>;
  /** Returns the cells of kubectl's table, header first, without ages. */
  table(): Promise<unknown[][]>;
}

/** Starts a server with helpers for `kind`. */
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

/** Last cause when the server skipped rules that depend on valid types and sizes. */
export const NOT_CHECKED =
  "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/** Returns the causes of an error, one line each: `field: message`. */
export function causes({ status, body }: Answer): string[] {
  const found: { field: string; message: string }[] = body.details?.causes ?? [];
  return status < 300 ? [`${status}`] : found.map(({ field, message }) => `${field}: ${message}`);
}

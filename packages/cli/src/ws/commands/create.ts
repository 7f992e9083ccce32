import { isApiError } from "@virtual-workspaces/apimachinery";
import type { WorkspaceTypeReference } from "@virtual-workspaces/kcp";
import { Failure, UsageError } from "../../usage.ts";
import { say, type WsCommand } from "../command.ts";
import { writeContext } from "../contexts.ts";
import { typeText } from "../enter.ts";
import type { Values } from "../flags.ts";
import { WORKSPACES, type Workspace } from "../kinds.ts";
import { mountNamed } from "../mount.ts";
import { selectorObject } from "../selector.ts";
import type { Session } from "../session.ts";
import { isReady, untilReady } from "../until-ready.ts";
import { useWorkspace } from "./use.ts";

export const create: WsCommand = {
  usage:
    "create <name> [--type=<type> | --mount=<kind>/<name>] [--enter] [--ignore-existing] [--location-selector=<labels>] [--create-context=<name>] [-w <workspace>]",
  flags: ["type", "mount", "enter", "ignore-existing", "location-selector", "create-context", "workspace"],
  words: [1, 1],
  async run(session, [name = ""], values) {
    const path = session.pathOf(values.workspace);
    const { workspace, existed } = await made(session, { path, name, values });
    const text = `Workspace ${JSON.stringify(name)} (${whatOf(workspace)})`;
    const done = existed ? "already exists" : "created";
    if (!isReady(workspace)) {
      say(`${text} ${done}. Waiting for it to be ready...`);
      await untilReady(session.client(path).resource(WORKSPACES), workspace);
    } else if (existed) say(`${text} ${done}.`);
    say(`${text} is ready to use.`);
    await entered(session, `${path}:${name}`, values);
  },
};

interface Wanted {
  /** Of the workspace around it. */
  readonly path: string;
  readonly name: string;
  readonly values: Values;
}

async function made(
  session: Session,
  { path, name, values }: Wanted,
): Promise<{ readonly workspace: Workspace; readonly existed: boolean }> {
  const type = values.type === undefined ? undefined : typeNamed(values.type);
  if (values["ignore-existing"] && type !== undefined && !/^root(:|$)/.test(type.path ?? ""))
    throw new UsageError("--ignore-existing must not be used with non-absolute type path");
  if (type !== undefined && values.mount !== undefined)
    throw new UsageError("--type and --mount: a mounted workspace has no type, leave one out");
  const labels = values["location-selector"];
  const spec = {
    ...(type && { type }),
    ...(values.mount !== undefined && { mount: await mountNamed(session, path, values.mount) }),
    ...(labels !== undefined && { location: { selector: selectorObject(labels, "--location-selector") } }),
  };
  const workspaces = session.client(path).resource(WORKSPACES);
  try {
    return {
      workspace: await workspaces.create({ metadata: { name }, spec } as Workspace, session.patience),
      existed: false,
    };
  } catch (error) {
    if (!values["ignore-existing"] || !isApiError(error) || error.reason !== "AlreadyExists") throw error;
  }
  const workspace = await workspaces.get(name, session.patience);
  checkSame(workspace, type);
  return { workspace, existed: true };
}

function typeNamed(text: string): WorkspaceTypeReference {
  const at = text.lastIndexOf(":");
  const name = text.slice(at + 1).toLowerCase();
  return at < 0 ? { name } : { name, path: text.slice(0, at) };
}

function checkSame({ metadata, spec }: Workspace, type: WorkspaceTypeReference | undefined): void {
  if (type === undefined || (type.name === spec.type?.name && type.path === spec.type.path)) return;
  const is =
    spec.type === undefined
      ? "it already exists, and is mounted"
      : `it already exists with different type ${typeText(spec.type)}`;
  throw new Failure(`workspace ${JSON.stringify(metadata.name)} cannot be created with type ${typeText(type)}, ${is}`);
}

function whatOf({ spec: { mount, type } }: Workspace): string {
  if (mount !== undefined) return `mounted from ${mount.ref.kind} ${mount.ref.name}`;
  return `type ${type === undefined ? "unknown" : typeText(type)}`;
}

async function entered(session: Session, path: string, values: Values): Promise<void> {
  const name = values["create-context"];
  const enter = values.enter === true;
  if (name !== undefined)
    say(await writeContext(session.kubeconfig, { name, path, overwrite: values["ignore-existing"] === true, enter }));
  else if (enter) await useWorkspace(session, path);
}

import { apiVersionOf, isApiError } from "@virtual-workspaces/apimachinery";
import {
  type LabelSelectorExpression,
  type LabelSelectorObject,
  parseLabelSelector,
} from "@virtual-workspaces/apimachinery/selectors";
import type { ResourceClient } from "@virtual-workspaces/client";
import type { WorkspaceMount, WorkspaceTypeReference } from "@virtual-workspaces/kcp";
import { Failure, UsageError } from "../process/failure.ts";
import { typeText, workspaceAt } from "./enter.ts";
import type { WsCommand, WsFlags } from "./flags.ts";
import { placeOfContext, writeContext } from "./session/contexts.ts";
import { WORKSPACES, type Workspace, type WorkspaceContent } from "./session/kinds.ts";
import { say } from "./session/output.ts";
import type { Session } from "./session/session.ts";
import { useWorkspace } from "./use.ts";

export const create: WsCommand = {
  words: [1, 1],
  async run(session, [name = ""], values) {
    const path = session.pathOf(values.workspace);
    const { workspace, existed } = await made(session, { path, name, values });
    const text = `Workspace ${JSON.stringify(name)} (${whatOf(workspace)})`;
    const done = existed ? "already exists" : "created";
    let ready = workspace;
    if (!isReady(workspace)) {
      say(`${text} ${done}. Waiting for it to be ready...`);
      ready = await untilReady(session.client(path).resource(WORKSPACES), workspace);
    } else if (existed) say(`${text} ${done}.`);
    const parent = await workspaceAt(session, path);
    if (parent === "missing" || parent?.spec.mount === undefined) say(`${text} is ready to use.`);
    // The server of the mount's target serves it, and no path below the mount leads there.
    else say(`${text} is ready at ${ready.spec.URL}: enter it there, since ${path} is a mount.`);
    await entered(session, `${path}:${name}`, values);
  },
};

interface NewWorkspace {
  /** Path of the parent workspace. */
  readonly path: string;
  readonly name: string;
  readonly values: WsFlags;
}

async function made(
  session: Session,
  { path, name, values }: NewWorkspace,
): Promise<{ readonly workspace: Workspace; readonly existed: boolean }> {
  const type = values.type === undefined ? undefined : typeNamed(values.type);
  if (values["ignore-existing"] && type !== undefined && !/^root(:|$)/.test(type.path ?? ""))
    throw new UsageError("--ignore-existing must not be used with non-absolute type path");
  if (type !== undefined && values.mount !== undefined)
    throw new UsageError(
      "--type does not work with --mount, since mounted workspaces have no type: remove one of them",
    );
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

async function entered(session: Session, path: string, values: WsFlags): Promise<void> {
  const name = values["create-context"];
  const enter = values.enter === true;
  if (name !== undefined)
    say(await writeContext(session.kubeconfig, { name, path, overwrite: values["ignore-existing"] === true, enter }));
  else if (enter) await useWorkspace(session, path);
}

/**
 * Returns the object of `kind/name` in a workspace. The kind is one that `kubectl get` accepts.
 *
 * @throws UsageError on another form, Failure on an unknown kind, ApiError when the object does not exist
 */
async function mountNamed(session: Session, path: string, text: string): Promise<WorkspaceMount> {
  const [, resource, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (resource === undefined || name === undefined)
    throw new UsageError(
      `invalid value "${text}" for --mount: use kind/name, such as mount/cluster or remoteclusters.example.dev/one`,
    );
  const client = session.client(path);
  const kind = await client.discovery().findResource(resource, session.patience);
  if (kind === undefined)
    throw new Failure(`--mount ${text}: the workspace ${path} has no resource ${JSON.stringify(resource)}`);
  const namespace = kind.scope === "Namespaced" ? { namespace: session.namespace } : {};
  // The server accepts a missing object, and the workspace would wait for it.
  const objects = client.resource(kind);
  await (namespace.namespace === undefined ? objects : objects.in(namespace.namespace)).get(name, session.patience);
  return {
    ref: { apiVersion: apiVersionOf(kind), kind: kind.kind, name, ...namespace },
  };
}

const OPERATORS: Readonly<Record<string, LabelSelectorExpression["operator"]>> = {
  in: "In",
  "!=": "NotIn",
  notin: "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
};

/** Parses a selector into its form in objects (`metav1.ParseToLabelSelector`). @throws UsageError */
export function selectorObject(text: string, flag: string): LabelSelectorObject {
  const { requirements } = parsed(text, flag);
  const equal = requirements.filter(({ operator }) => operator === "=");
  const others = requirements.filter(({ operator }) => operator !== "=");
  const matchExpressions = others.map(({ key, operator: sign, values }): LabelSelectorExpression => {
    const operator = OPERATORS[sign];
    if (operator === undefined)
      throw new UsageError(`${flag} ${text}: ${JSON.stringify(sign)} cannot be stored in an object: remove it`);
    return { key, operator, ...(values.length > 0 && { values }) };
  });
  const matchLabels = Object.fromEntries(equal.map(({ key, values: [value = ""] }) => [key, value]));
  return { ...(equal.length > 0 && { matchLabels }), ...(others.length > 0 && { matchExpressions }) };
}

function parsed(text: string, flag: string): ReturnType<typeof parseLabelSelector> {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (isApiError(error)) throw new UsageError(`${flag} ${text}: ${error.message}`);
    throw error;
  }
}

/** Time limit for a workspace, ms, as in kcp's `kubectl ws create`. */
const PATIENCE = 60_000;

/** Watches a workspace until it is ready. Returns it then. @throws Failure with the reason after a minute */
async function untilReady(workspaces: ResourceClient<WorkspaceContent>, workspace: Workspace): Promise<Workspace> {
  const { name = "" } = workspace.metadata;
  const patience = AbortSignal.timeout(PATIENCE);
  let seen = workspace;
  try {
    while (!isReady(seen)) {
      const { resourceVersion = "" } = seen.metadata;
      for await (const event of workspaces.watch({
        fields: `metadata.name=${name}`,
        resourceVersion,
        signal: patience,
      })) {
        if (event.type === "DELETED")
          throw new Failure(`Workspace ${JSON.stringify(name)} was deleted before it was ready`);
        if (event.type !== "BOOKMARK") seen = event.object;
        if (isReady(seen)) return seen;
      }
      seen = await workspaces.get(name, { signal: patience });
    }
    return seen;
  } catch (error) {
    if (!patience.aborted) throw error;
    throw new Failure(`Workspace ${JSON.stringify(name)} is not ready after ${PATIENCE / 1000} s: ${whyNot(seen)}`);
  }
}

function isReady({ status }: Workspace): boolean {
  return status?.phase === "Ready";
}

function whyNot({ status }: Workspace): string {
  const condition = status?.conditions?.find((one) => one.status === "False");
  const why = condition === undefined ? "" : `, ${condition.type}: ${condition.message ?? condition.reason ?? "False"}`;
  return `it is ${status?.phase || "Scheduling"}${why}`;
}

export const createContext: WsCommand = {
  words: [0, 1],
  async run({ kubeconfig }, [name], { overwrite = false }) {
    const { path } = placeOfContext(kubeconfig);
    say(await writeContext(kubeconfig, { name: name ?? path, overwrite, enter: true }));
  },
};

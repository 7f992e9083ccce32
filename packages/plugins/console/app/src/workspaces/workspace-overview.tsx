import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useMay } from "../api/access.ts";
import { discovery } from "../api/discovery.ts";
import type { Condition } from "../api/types.ts";
import { clusterOf } from "../api/types.ts";
import { ApiActions, CopyKubeconfig } from "../kcp/actions.tsx";
import { accessHash, routeHash, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { ageOf, dateOf } from "../ui/age.ts";
import { announce } from "../ui/announce.tsx";
import { Icon } from "../ui/icons.tsx";
import { ReasonedButton } from "../ui/reasoned-button.tsx";
import { createHere } from "./create-workspace.tsx";
import { deletedWorkspace } from "./delete-workspace.tsx";
import { logicalCluster } from "./logical-cluster.ts";
import { workspaceAt } from "./tree-model.ts";
import { childWorkspaces, mountOf, parentOf, phaseOf, shardOf, type Workspace } from "./workspace.ts";
import { typeOfLogicalCluster } from "./workspace-types.ts";

type MountOf = NonNullable<Workspace["spec"]>["mount"];

const NO_OBJECT = {
  resource: { group: "tenancy.kcp.io", version: "v1alpha1", resource: "workspaces" },
  namespace: "",
  name: "",
} as const;

/** What a workspace is, and what can be done with it. */
export function WorkspaceOverview({ path }: { readonly path: string }) {
  const parent = parentOf(path);
  const workspace = parent === undefined ? undefined : workspaceAt(parent, path);
  const mount = workspace === undefined ? undefined : mountOf(workspace);
  const cluster = workspace?.spec?.mount === undefined ? logicalCluster(path).value.items[0] : undefined;
  const type = workspace?.spec?.type ?? (cluster === undefined ? undefined : typeOfLogicalCluster(cluster));
  const phase = workspace === undefined ? cluster?.status?.phase : phaseOf(workspace);
  const url = workspace?.spec?.URL ?? cluster?.status?.URL;
  const created = (workspace ?? cluster)?.metadata.creationTimestamp;
  const shard = workspace === undefined ? cluster && shardOf(cluster) : shardOf(workspace);
  const conditions = workspace?.status?.conditions ?? cluster?.status?.conditions ?? [];
  const name = workspace?.spec?.cluster ?? (cluster === undefined ? undefined : clusterOf(cluster));
  const mayCreate = useMay(
    "create",
    useMemo(() => ({ ...NO_OBJECT, workspace: path }), [path]),
  );
  const own = path.slice(path.lastIndexOf(":") + 1);
  const mayDelete = useMay(
    "delete",
    useMemo(() => (parent === undefined ? undefined : { ...NO_OBJECT, workspace: parent, name: own }), [parent, own]),
  );
  const siblings = parent === undefined ? undefined : childWorkspaces(parent).value;
  const isMissing = workspace === undefined && siblings?.state === "live";
  const hasWorkspaces = cluster !== undefined && childWorkspaces(path).value.error?.code !== 404;
  return (
    <section class="overview" aria-label={texts.workspace.overview}>
      <div class="actions">
        {mount === undefined && !isMissing && hasWorkspaces && (
          <ReasonedButton reason={mayCreate ? undefined : texts.create.forbidden} onClick={createHere}>
            <Icon name="plus" />
            {texts.create.button}
          </ReasonedButton>
        )}
        {mount === undefined && !isMissing && <ApiActions key={path} workspace={path} />}
        {mount === undefined && !isMissing && (
          <a class="button" href={routeHash(routeTo({ workspace: path }, { view: "changes" }))}>
            {texts.workspace.changes}
          </a>
        )}
        {!isMissing && (
          <a class="button" href={accessHash()}>
            {texts.header.access}
          </a>
        )}
        {workspace !== undefined && (
          <ReasonedButton
            reason={mayDelete ? undefined : texts.remove.forbidden}
            onClick={() => {
              deletedWorkspace.value = { path, workspace };
            }}
          >
            <Icon name="trash" />
            {mount === undefined ? texts.remove.button : texts.unmount.button}
          </ReasonedButton>
        )}
      </div>
      <dl class="facts">
        <Fact name={texts.workspace.type}>
          {type !== undefined && (
            <>
              {type.name} {type.path && <span class="muted">{texts.workspace.typeIn(type.path)}</span>}
            </>
          )}
        </Fact>
        <Fact name={texts.workspace.phase}>
          {phase !== undefined && <span class={`badge ${phase === "Ready" ? "good" : "warning"}`}>{phase}</span>}
        </Fact>
        {mount !== undefined && (
          <Fact name={texts.workspace.mount}>
            <MountLink workspace={parent} mount={workspace?.spec?.mount} />{" "}
            {mount.isReachable !== undefined && (
              <span class={`badge ${mount.isReachable ? "good" : "failed"}`}>
                {mount.isReachable ? texts.tree.reachable : texts.tree.unreachable("")}
              </span>
            )}
          </Fact>
        )}
        <Fact name={texts.workspace.cluster}>{name !== undefined && <Copyable text={name} />}</Fact>
        <Fact name={texts.shards.shard}>{shard}</Fact>
        <Fact name={texts.workspace.url}>
          {url !== undefined && (
            <>
              <Copyable text={url} /> <CopyKubeconfig url={url} name={path} />
            </>
          )}
        </Fact>
        <Fact name={texts.workspace.created}>
          {created !== undefined && <time dateTime={created}>{`${dateOf(created)} (${ageOf(created)})`}</time>}
        </Fact>
      </dl>
      {path === "root" && isEmpty(path) && mayCreate && <p class="hint">{texts.workspace.first}</p>}
      <Conditions conditions={conditions} isMounted={mount?.isReachable === true} />
      {isMissing && <p>{texts.workspace.missing(path)}</p>}
      {workspace === undefined && siblings?.state === "failed" && <p class="hint">{texts.workspace.noDetails}</p>}
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (children === "" || children === undefined || children === false) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Copyable({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    announce(texts.workspace.copied);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <>
      <code>{text}</code>{" "}
      {"clipboard" in navigator && (
        <button
          type="button"
          class="link"
          {...(!isCopied && { "aria-label": `${texts.workspace.copy} ${text}` })}
          onClick={() => void copy().catch(() => undefined)}
        >
          {isCopied ? texts.workspace.copied : texts.workspace.copy}
        </button>
      )}
    </>
  );
}

function isEmpty(path: string): boolean {
  const { items, state } = childWorkspaces(path).value;
  return state === "live" && items.length === 0;
}

/** The object that mounts a workspace, with a link to its page. */
function MountLink({ workspace, mount }: { readonly workspace: string | undefined; readonly mount: MountOf }) {
  const { apiVersion = "", kind = "", name = "", namespace = "" } = mount?.ref ?? {};
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const text = <bdi>{`${kind} ${name}`}</bdi>;
  const found = workspace === undefined ? [] : discovery(workspace).value.resources;
  const resource = found.find((one) => one.kind === kind && one.group === group && one.version === version);
  if (workspace === undefined || resource === undefined) return text;
  const id = { group, version, resource: resource.resource };
  return <a href={routeHash(routeTo({ workspace, resource: id, object: { namespace, name } }))}>{text}</a>;
}

interface ConditionsProps {
  readonly conditions: readonly Condition[];
  /** The target of a mounted workspace is available, whatever else the message of its condition says. */
  readonly isMounted: boolean;
}

function Conditions({ conditions, isMounted }: ConditionsProps) {
  if (conditions.length === 0) return null;
  return (
    <>
      <h2>{texts.workspace.conditions}</h2>
      <ul class="conditions">
        {conditions.map(({ type, status, reason, message }) => (
          <li key={type}>
            <span class={`badge ${status === "True" ? "good" : "warning"}`}>{status}</span> {type}
            {reason !== undefined && <span class="muted"> {reason}</span>}
            {message !== undefined && (
              <p class="hint">
                {isMounted && type === "WorkspaceMountReady" && <strong>{texts.workspace.mounted} </strong>}
                {message}
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

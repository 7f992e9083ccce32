import { useMemo, useState } from "preact/hooks";
import { useMay } from "../api/access.ts";
import type { ResourceId } from "../api/base.ts";
import { type Discovery, discovery } from "../api/discovery.ts";
import { texts } from "../texts.ts";
import { confirmDone } from "../ui/announce.tsx";
import { Lazy } from "../ui/lazy.tsx";
import { ReasonedButton } from "../ui/reasoned-button.tsx";

const GROUP = "apis.kcp.io";

type DialogName = "export" | "bind" | "mount";

const LOAD = {
  export: () => import("./dialogs/dialogs.ts").then((module) => module.ExportDialog),
  bind: () => import("./dialogs/dialogs.ts").then((module) => module.BindDialog),
  mount: () => import("./dialogs/dialogs.ts").then((module) => module.MountDialog),
} as const;

/** Actions on the APIs of a workspace. The programs of the dialogs are loaded when one is opened. */
export function ApiActions({ workspace }: { readonly workspace: string }) {
  const [open, setOpen] = useState<DialogName>();
  const found = discovery(workspace).value;
  const canExport = serves(found, "apiexports") && serves(found, "apiresourceschemas");
  const canBind = serves(found, "apibindings");
  const words = texts.kcp;
  return (
    <>
      {canExport && (
        <CreateButton workspace={workspace} id={of(found, "apiexports")} onClick={() => setOpen("export")}>
          {words.exportApi}
        </CreateButton>
      )}
      {canBind && (
        <CreateButton workspace={workspace} id={of(found, "apibindings")} onClick={() => setOpen("bind")}>
          {words.bindExport}
        </CreateButton>
      )}
      {canBind && (
        <CreateButton workspace={workspace} id={WORKSPACES} onClick={() => setOpen("mount")}>
          {words.mountCluster}
        </CreateButton>
      )}
      {open !== undefined && (
        <Lazy key={open} load={LOAD[open]} with={{ workspace, onClose: () => setOpen(undefined) }} />
      )}
    </>
  );
}

const WORKSPACES: ResourceId = { group: "tenancy.kcp.io", version: "v1alpha1", resource: "workspaces" };

const of = ({ resources }: Discovery, resource: string): ResourceId =>
  resources.find((one) => one.group === GROUP && one.resource === resource) ?? WORKSPACES;

interface CreateButtonProps {
  readonly workspace: string;
  /** What its dialog creates at its end. */
  readonly id: ResourceId;
  readonly onClick: () => void;
  readonly children: string;
}

/** A button that is disabled, with the reason, for users who may not create what its dialog makes. */
function CreateButton({ workspace, id, onClick, children }: CreateButtonProps) {
  const { group, version, resource } = id;
  const address = useMemo(
    () => ({ workspace, resource: { group, version, resource }, namespace: "", name: "" }),
    [workspace, group, version, resource],
  );
  const may = useMay("create", address);
  return (
    <ReasonedButton reason={may ? undefined : texts.kcp.notAllowed(`${resource}.${group}`)} onClick={onClick}>
      {children}
    </ReasonedButton>
  );
}

const serves = ({ resources }: Discovery, resource: string): boolean =>
  resources.some((one) => one.group === GROUP && one.resource === resource);

/** A button that copies a kubeconfig for a URL. */
export function CopyKubeconfig({ url, name }: { readonly url: string; readonly name: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    const { kubeconfigFor } = await import("./kubeconfig-text.ts");
    await navigator.clipboard.writeText(await kubeconfigFor(url, name));
    confirmDone(texts.kcp.kubeconfigCopied);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  if (!("clipboard" in navigator)) return null;
  return (
    <button type="button" class="link" onClick={() => void copy().catch(() => undefined)}>
      {isCopied ? texts.workspace.copied : texts.kcp.copyKubeconfig}
    </button>
  );
}

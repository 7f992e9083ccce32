import { useState } from "preact/hooks";
import { Copy, CopyKubeconfig } from "../kcp/copy.tsx";
import { Apis } from "./apis.tsx";
import { texts } from "./texts.ts";

interface ViewActionsProps {
  readonly name: string;
  readonly url: string;
  /** Path of its API below that of the page; undefined if the page cannot read it. */
  readonly path: string | undefined;
}

/** Buttons for a view: its URL, a kubeconfig, and its APIs. */
export function ViewActions({ name, url, path }: ViewActionsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="view-actions">
      <p class="row">
        <Copy label={texts.url} name={texts.urlOf(name)} text={() => url} />
        <CopyKubeconfig url={url} name={name} label={texts.kubeconfigOf(name)} />
        {path !== undefined && (
          <button
            type="button"
            class="link"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? texts.apis.hide : texts.apis.show}: ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? texts.apis.hide : texts.apis.show}
          </button>
        )}
      </p>
      {isOpen && path !== undefined && <Apis path={path} name={name} />}
    </div>
  );
}

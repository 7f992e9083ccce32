import { useState } from "preact/hooks";
import { asStatusError } from "../../api/client.ts";
import { confirmDone } from "../../ui/announce.tsx";
import { LeftObjects } from "../../workspaces/left-objects.tsx";
import type { LeftObject } from "../../workspaces/mount-objects.ts";
import { texts } from "../texts.ts";
import type { MadeDialogProps } from "./made-dialog.tsx";
import { removeMount } from "./made-mount.ts";

interface RemediesProps extends MadeDialogProps {
  readonly name: string;
  readonly onCorrect: () => void;
}

/** What the user can do about a mount that is not ready: another target, or none. */
export function Remedies({ workspace, name, onClose, onCorrect }: RemediesProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [left, setLeft] = useState<readonly LeftObject[]>([]);
  const words = texts.mountDialog;
  const endWith = (objects: readonly LeftObject[]) => {
    setLeft(objects);
    if (objects.length > 0) return;
    confirmDone(words.removed(name));
    onClose();
  };
  const remove = async () => {
    setBusy(true);
    setError(undefined);
    try {
      endWith(await removeMount(workspace, name));
    } catch (cause) {
      setError(asStatusError(cause).message);
      setBusy(false);
    }
  };
  if (left.length > 0) return <LeftObjects name={name} left={left} onLeft={endWith} onClose={onClose} />;
  return (
    <>
      <p class="row">
        <button type="button" disabled={isBusy} onClick={onCorrect}>
          {words.correct}
        </button>
        <button type="button" disabled={isBusy} onClick={() => void remove()}>
          {words.remove}
        </button>
      </p>
      <p class="error" role="alert">
        {error}
      </p>
    </>
  );
}

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { confirmDone } from "../../ui/announce.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { createAll, type Made, problemsByField } from "./create-all.ts";

export interface MadeDialogProps {
  readonly workspace: string;
  readonly onClose: () => void;
}

/** Form of a dialog that makes an object; `onMade` gets its name. */
export interface FormProps extends MadeDialogProps {
  readonly onMade: (name: string) => void;
}

interface ShellProps {
  readonly heading: string;
  readonly onClose: () => void;
  readonly form: (onMade: (name: string) => void) => ComponentChildren;
  /** State of the object that the form has made. */
  readonly made: (name: string, onBack: () => void) => ComponentChildren;
}

/** A dialog with a form, and then with the state of what the form has made. */
export function MadeDialog({ heading, onClose, form, made }: ShellProps) {
  const [name, setName] = useState<string>();
  return (
    <Dialog heading={heading} onClose={onClose}>
      {name === undefined ? form(setName) : made(name, () => setName(undefined))}
    </Dialog>
  );
}

interface FormOptions<F extends string> {
  readonly workspace: string;
  readonly onMade: (name: string) => void;
  /** Field of the form for a field of the server. */
  readonly fieldOf: (made: Made, field: string, error: unknown) => F;
  /** Field for other errors. */
  readonly other: F;
}

interface CreateOptions<F extends string> {
  readonly name: string;
  /** Confirmation. */
  readonly text: string;
  /** Runs when the objects are made. Its problems keep the form open. */
  readonly finish?: () => Promise<Partial<Record<F, string>> | undefined>;
}

/** State of a form that creates objects: its problems, by their fields, and whether it waits for the server. */
export function useForm<F extends string>({ workspace, onMade, fieldOf, other }: FormOptions<F>) {
  const [problems, setProblems] = useState<Partial<Record<F, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const done = useRef(new Set<string>());
  /** A setter that removes the problems, since they are about earlier values. */
  const change = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      setProblems({});
      set(value);
    };
  };
  const create = async (objects: readonly Made[], { name, text, finish }: CreateOptions<F>) => {
    setBusy(true);
    setProblems({});
    try {
      await createAll(workspace, objects, done.current);
      const left = await finish?.();
      if (left !== undefined) {
        setProblems(left);
        setBusy(false);
        return;
      }
      confirmDone(text);
      onMade(name);
    } catch (cause) {
      setProblems(problemsByField<F>(cause, { fieldOf: (made, field) => fieldOf(made, field, cause), other }));
      setBusy(false);
    }
  };
  return { problems, setProblems, isBusy, change, create };
}

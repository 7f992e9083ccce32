import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly error?: string | undefined;
  /** Renders the control, with the attributes that tie it to its label, hint and error. */
  readonly children: (attributes: {
    readonly id: string;
    readonly "aria-describedby": string;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** A labeled control, with a hint, and with the error of the server below it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": `${id}-hint ${id}-error`, "aria-invalid": error !== undefined })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <div class="error" id={`${id}-error`} role="alert">
        {error?.includes("\n") ? <Lines text={error} /> : error}
      </div>
    </div>
  );
}

/** Several causes of an error, each an item of a list. */
const Lines = ({ text }: { readonly text: string }) => (
  <ul>
    {[...new Set(text.split("\n"))].map((line) => (
      <li key={line}>{line}</li>
    ))}
  </ul>
);

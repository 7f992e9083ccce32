import { useId } from "preact/hooks";
import { Field } from "../../ui/field.tsx";

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
  /** Values to choose from. */
  readonly options?: readonly string[];
  readonly placeholder?: string;
  /** Several lines. */
  readonly rows?: number;
  /** Not shown while it is typed. */
  readonly isSecret?: boolean;
}

/** A field of text in a dialog. */
export function TextField(props: TextFieldProps) {
  const {
    label,
    value,
    onValue,
    hint,
    error,
    isRequired = false,
    options,
    placeholder,
    rows,
    isSecret = false,
  } = props;
  const id = useId();
  const kind = isSecret
    ? { type: "password" as const }
    : { type: "text" as const, ...(options !== undefined && { list: id }) };
  return (
    <Field label={label} error={error} {...(hint !== undefined && { hint })}>
      {(attributes) =>
        rows === undefined ? (
          <>
            <input
              {...attributes}
              {...kind}
              required={isRequired}
              value={value}
              autocomplete="off"
              spellcheck={false}
              {...(placeholder !== undefined && { placeholder })}
              onInput={({ currentTarget }) => onValue(currentTarget.value)}
            />
            {options !== undefined && (
              <datalist id={id}>
                {options.map((option) => (
                  <option key={option} value={option} />
                ))}
              </datalist>
            )}
          </>
        ) : (
          <textarea
            {...attributes}
            rows={rows}
            required={isRequired}
            value={value}
            autocomplete="off"
            spellcheck={false}
            {...(placeholder !== undefined && { placeholder })}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

import type { StatusError } from "../api/client.ts";
import { onlyWorkspace } from "../api/session.ts";
import { texts } from "../texts.ts";

interface ProblemProps {
  readonly error: StatusError;
  readonly onRetry?: (() => void) | undefined;
  readonly isRetrying?: boolean;
  /** Consequence of the error. */
  readonly hint?: string | undefined;
  /** What has failed. Default: the status of HTTP. */
  readonly heading?: string | undefined;
}

/** An error of the server in place of what it should have answered. */
export function Problem({ error, onRetry, isRetrying = false, hint, heading }: ProblemProps) {
  const only = onlyWorkspace.value;
  return (
    <div class="problem" role="alert">
      <strong>{heading ?? texts.errors.failed(error.code)}</strong>
      <p>{error.message}</p>
      {hint !== undefined && <p>{hint}</p>}
      {error.code === 401 && only !== undefined && <p>{texts.signIn.onlyIn(only)}</p>}
      {isRetrying && <p class="hint">{texts.retrying}</p>}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {texts.errors.again}
        </button>
      )}
    </div>
  );
}

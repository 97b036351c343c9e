/** What a worker's agent can do, asked of the node once. */

import { useEffect, useState } from "preact/hooks";
import { useApp } from "../state/context";
import type { Abilities, Worker } from "../state/types";

const known = new Map<string, Abilities>();

/** Before the node has answered, what is known of it. */
export function useAbilities(worker: Worker): Abilities {
  const { actions } = useApp();
  const key = `${worker.name} ${worker.backend} ${worker.wire}`;
  const [found, setFound] = useState<Abilities | undefined>(() => known.get(key));
  useEffect(() => {
    let wanted = true;
    setFound(known.get(key));
    actions.abilities(worker.name).then(
      (abilities) => {
        known.set(key, abilities);
        if (wanted) setFound(abilities);
      },
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [key, actions]);
  return found ?? { pane: worker.wire === "tmux", steer: false };
}

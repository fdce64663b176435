/** The edits of several runs at one tip. */
import type { Outcome } from '../../api/outcome.ts';
import { done, transient } from '../../api/outcome.ts';
import type { ChainSettings, EditOnCommit } from './push-chain.ts';
import { editAt } from './push-chain.ts';
import type { PushMember } from './push-member.ts';

/** How edits are run: with what, and how files that the mirror lacks are brought. */
export interface EditingGround {
  readonly settings: ChainSettings;
  readonly tip: string;
  readonly bring: (oids: readonly string[]) => Promise<Outcome<void>>;
}

/** Results by member; files that the mirror lacks are brought in one go. A member whose edit threw has failed and is absent. */
export async function editMembers(
  members: readonly PushMember[],
  ground: EditingGround,
): Promise<Outcome<ReadonlyMap<PushMember, Outcome<EditOnCommit>>>> {
  const edits = new Map<PushMember, Outcome<EditOnCommit>>();
  const lacking = new Set<string>();
  for (const member of members) {
    const edit = await editMember(member, ground);
    if (edit === undefined) continue;
    if (edit.outcome === 'transient') return edit;
    if (edit.outcome === 'done' && edit.value.state === 'missing') for (const oid of edit.value.oids) lacking.add(oid);
    edits.set(member, edit);
  }
  if (lacking.size === 0) return done(edits);
  const brought = await ground.bring([...lacking]);
  if (brought.outcome !== 'done') return brought;
  for (const [member, edit] of edits) {
    if (edit.outcome !== 'done' || edit.value.state !== 'missing') continue;
    const again = await editMember(member, ground);
    if (again === undefined) edits.delete(member);
    else if (again.outcome === 'transient') return again;
    else if (again.outcome === 'done' && again.value.state === 'missing')
      return transient('GitMirrorCorrupt', 'fetched files are not in the mirror');
    else edits.set(member, again);
  }
  return done(edits);
}

/** Undefined when the edit threw, which is a bug of that run alone. */
async function editMember(member: PushMember, ground: EditingGround): Promise<Outcome<EditOnCommit> | undefined> {
  try {
    return await editAt(ground.settings, ground.tip, member.plan);
  } catch (error) {
    member.fail(error);
    return undefined;
  }
}

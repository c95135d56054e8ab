{
	const all = (s, page = document) => [...page.querySelectorAll(s)], main = '#payment, fieldset details, #region, .pay, form > .quiet', [form, fold, area, pay, update] = all(main);
	const parts = '#totals, #waiver, .fold b, .goods .amount, .goods small, .pay span', needs = page => all('form, [name^=card_n], #card', page).length,
		costly = 'fieldset:first-of-type :is(select, details input), .goods input';
	let last = 0;
	const count = async (typed, or) => {
		const me = ++last, sent = [...all('#payment > input:not([name=payment_method], [name=do]), ' + costly), ...typed];
		try {
			const got = await fetch(form.action, {method: 'POST', body: new URLSearchParams([['do', 'count'], ...sent.map(i => [i.name, i.value])])});
			const page = new DOMParser().parseFromString(await got.text(), 'text/html'), its = all(parts, page), [now, fold2, area2] = all(main, page);
			if (me !== last) return;
			if (!got.ok || !now || all(parts).length !== its.length || needs() !== needs(page)) throw 0;
			all(parts).forEach((part, i) => part.isEqualNode(its[i]) || part.replaceChildren(...its[i].childNodes));
			['shown', 'filled'].forEach(n => form[n].value = now[n].value);
			form.regions_of.value === now.regions_of.value || area.replaceChildren(...area2.childNodes);
			fold.open ||= fold2.open;
			update.hidden = true;
			sent.forEach(i => (i.ariaInvalid = null, all(`[id="${i.id}-problem"], li:has([href="#${i.id}"])`).forEach(s => s.remove())));
			all('.problems:not(:has(li))').forEach(s => (s.remove(), document.title = page.title));
		} catch { me === last && or(); }
	};
	update.hidden = true;
	onchange = e => e.target.matches(costly) && count([], () => update.hidden = false);
	form.onsubmit = e => {
		const by = e.submitter, code = (by.value === 'enter' ? document.activeElement : by).closest('.code');
		if (code) return e.preventDefault(), count(all('input', code), () => form.requestSubmit(update));
		pay.ariaBusy = by !== update;
	};
	onpageshow = () => pay.ariaBusy = null;
}

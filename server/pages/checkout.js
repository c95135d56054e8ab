{
	const all = (s, page = document) => [...page.querySelectorAll(s)], main = '#payment, fieldset details, .pay, form > .quiet', [form, fold, pay, update] = all(main);
	const parts = '#totals, #waiver, .fold b, .goods .amount, .goods small, .pay span', needs = page => all('form, [name^=card_n], #card', page).length,
		costly = 'fieldset:first-of-type :is(select, details input, .region input), .goods input', fields = '.tick, .field:not(:has(#card))',
		names = page => all(fields, page).filter(field => !field.closest('#waiver, .region')).map(field => all('label', field)[0].htmlFor).join();
	let last = 0, goes, asks; // whether an answer is on its way
	const ask = async (does, sent, or, shows = true) => {
		const me = ++last;
		asks = true;
		try {
			const got = await fetch(form.action, {method: 'POST', body: new URLSearchParams([['do', does], ...sent])});
			const page = new DOMParser().parseFromString(await got.text(), 'text/html'), its = all(parts, page), [now, fold2] = all(main, page), fields2 = all(fields, page), areas = all('.region', page);
			if (me !== last) return;
			const isCounted = got.ok && does === 'count';
			if (got.ok && does !== 'count' && !got.url.includes('told=total')) return location = got.url; // what became of the form is on a page of its own
			all('.problems li', page).forEach(li => hasCard(li, page) && li.remove());
			if (!isCounted && (!shows || !all('.problems li', page)[0] || names() !== names(page)) || !now || all(parts).length !== its.length || needs() !== needs(page)) throw 0;
			all(parts).forEach((part, i) => part.isEqualNode(its[i]) || part.replaceChildren(...its[i].childNodes));
			['shown', 'filled'].forEach(n => form[n].value = now[n].value);
			form.regions_of.value === now.regions_of.value || all('.region').forEach((area, i) => area.replaceChildren(...areas[i].childNodes));
			fold.open ||= fold2.open;
			update.hidden = true;
			asks = pay.ariaBusy = null;
			isCounted ? counted(sent, page) : refused(page, fields2, name => does !== 'count' || sent.some(([n]) => n === name));
		} catch { me === last && (asks = pay.ariaBusy = null, or()); }
	};
	const hasCard = (li, page) => all('#card-problem', page)[0]?.textContent === li.textContent || all('a[href^="#card"]', li).some(a => document.querySelector(a.hash).value);
	const counted = (sent, page) => {
		sent.forEach(([n, value]) => all(`[id="${n}"], [id="${n}-problem"], li:has([href="#${n}"])`).forEach(e => e.id === n ? (e.ariaInvalid = null, e.setCustomValidity(''), e.defaultValue = value) : e.remove()));
		all('.problems:not(:has(li))').forEach(s => (s.remove(), document.title = page.title));
	};
	const refused = (page, fields2, isSent) => {
		const [summary] = all('.problems', page), mine = all(fields), code = all('[name=refused_code]', page);
		all('.problems').forEach(s => s.remove());
		mine.forEach((field, i) => {
			const [card] = all('[name^=card_]', field), wrong = all('.problem', field);
			if (card?.value) wrong.forEach(s => (s.remove(), card.ariaInvalid = null));
			else if (isSent(all('label', field)[0].htmlFor) && (wrong[0] || all('.problem', fields2[i])[0])) field.replaceWith(fields2[i]);
		});
		form.prepend(...code); // with which they may pay without it
		all('main')[0].prepend(summary);
		document.title = page.title;
		summary.focus();
	};
	update.hidden = true;
	const values = inputs => inputs.map(i => [i.name, i.value]), count = (typed, or, shows) => ask('count', values([...all('#payment > input:not([name=payment_method], [name=do]), ' + costly), ...typed]), or, shows);
	onchange = e => e.target.matches(costly) && count([], () => (update.hidden = false, e.target.setCustomValidity('refused')), false); // Pay says what is wrong
	form.onsubmit = e => {
		const by = e.submitter, typed = form.discount_code, isNew = typed?.value !== typed?.defaultValue, code = (by.value === 'enter' ? isNew ? typed : document.activeElement : by).closest('.code');
		if (code) return e.preventDefault(), count(all('input', code), () => form.requestSubmit(update));
		pay.ariaBusy = by !== update;
		if (by === update || goes || !asks && !isNew && form.matches(':valid') && !all('[aria-invalid]:not([name^=card_])')[0]) return;
		e.preventDefault(); // the card would be gone
		ask(by.value, [...new FormData(form)].filter(([n]) => !/^card_|^payment_method$|^do$/.test(n)), () => (goes = true, form.requestSubmit(by), goes = false));
	};
	onpageshow = () => pay.ariaBusy = null;
}
